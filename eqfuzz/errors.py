"""Errors that any verb may end with, and the one line that reports an exception."""


class UsageError(Exception):
    """Something that the user asked for cannot be done; ``str()`` is one line with what to do instead."""


def one_line(text: str, limit: int = 300) -> str:
    """``text`` with runs of white space replaced by one blank, cut at ``limit`` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def error_line(error: BaseException, limit: int = 300) -> str:
    """Class and message of ``error`` in one line of at most ``limit`` characters."""
    message = str(error)
    return one_line(f"{type(error).__name__}: {message}" if message.strip() else type(error).__name__, limit)
