"""The Python interface, whose names ``eqfuzz`` itself has."""
