"""Errors that any verb may end with."""


class UsageError(Exception):
    """Something that the user asked for cannot be done; ``str()`` is one line with what to do instead."""
