"""Torch's private names: everything of them that eqfuzz uses is here, and ``contract`` lists it."""
