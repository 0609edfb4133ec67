"""A project that checks its model with the Python interface."""
