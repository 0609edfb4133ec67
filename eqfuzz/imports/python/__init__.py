"""Import of Python classes and functions: their definitions are gathered into one file."""
