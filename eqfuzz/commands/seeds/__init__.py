"""Commands of ``eqfuzz seeds``."""
