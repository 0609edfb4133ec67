"""The endpoint of a model, and its API key, which never appears in a repr, a message or a file."""

from __future__ import annotations

import dataclasses
import os
import re
import urllib.parse
from pathlib import Path

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
"""The environment variable of the key for OpenAI's own address, unless another one is named."""

HIDDEN = "[hidden]"

_SHORTEST_SECRET = 8
"""Shorter keys are not hidden: local servers accept any word (``none``, ``EMPTY``), which programs may contain too."""

_CREDENTIALS = re.compile(
    r"(?i)(?:\bauthorization\b[\"']?\s*[:=]\s*[\"']?)(?:(?:bearer|basic)\s+)?[^\s\"',;]+|\bbearer\s+[\w.~+/=-]{8,}"
)


class BadEndpoint(ValueError):
    """The address or the key cannot be used; ``str()`` is one line without the key."""


@dataclasses.dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible server. ``base_url`` ends before ``/chat/completions``; ``key`` may be empty."""

    model: str
    base_url: str = OPENAI
    key: str = dataclasses.field(default="", repr=False)

    def __post_init__(self) -> None:
        """Raises BadEndpoint."""
        if not self.model.strip() or not self.model.isprintable():
            raise BadEndpoint(f"{self.model!r} is not the name of a model")
        _require_address(self.base_url)
        _require_key(self.key)

    @property
    def host(self) -> str:
        """The host name and port, which reports and headers of seeds may show."""
        return urllib.parse.urlsplit(self.base_url).netloc

    def hide(self, text: str) -> str:
        """``text`` with the key and anything like an authorization header replaced, which a server may echo."""
        if len(self.key) >= _SHORTEST_SECRET:
            for form in {self.key, urllib.parse.quote(self.key, safe="")}:
                text = text.replace(form, HIDDEN)
        return _CREDENTIALS.sub(HIDDEN, text)


def take_key(base_url: str, variable: str | None, file: Path | None) -> str:
    """The key from ``file``, or from the environment ``variable``, which is removed: child processes inherit it.

    Without either it is that of OPENAI_API_KEY for OpenAI's own address, and empty for others. Raises BadEndpoint.
    """
    if file is not None:
        try:
            key = file.read_text(encoding="utf-8").strip()
        except UnicodeDecodeError:
            raise BadEndpoint(f"{file}: not a text file") from None
        except OSError as error:
            raise BadEndpoint(f"{file}: cannot be read: {error.strerror}") from None
        if not key:
            raise BadEndpoint(f"{file}: holds no key")
        _require_key(key)
        return key
    is_openai = base_url.rstrip("/") == OPENAI
    name = variable or (OPENAI_KEY if is_openai else None)
    key = (os.environ.pop(name, "") if name is not None else "").strip()
    if not key and (variable is not None or is_openai):
        raise BadEndpoint(f"the environment variable {name} holds no key")
    _require_key(key)
    return key


def _require_address(url: str) -> None:
    try:
        parts = urllib.parse.urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        raise BadEndpoint("not an address: write http://HOST:PORT/v1 or https://…") from None
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise BadEndpoint("the address may contain no password, query or fragment: use the options for the key")
    if parts.scheme not in ("http", "https") or not host or not url.isprintable() or " " in url:
        raise BadEndpoint(f"{url!r} is not an address: write http://HOST:PORT/v1 or https://…")


def _require_key(key: str) -> None:
    if not key.isascii() or any(c.isspace() or not c.isprintable() for c in key):
        raise BadEndpoint("the key is not a single word of ASCII characters")
