"""The model that is asked, where it answers, and the key: which never appears in a repr, a message or a file."""

from __future__ import annotations

import dataclasses
import os
import re
import urllib.parse
from pathlib import Path

OPENAI = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
"""The variable that holds the key where neither another address nor another variable is named."""

HIDDEN = "[hidden]"

_SHORTEST_SECRET = 8
"""Servers of one's own take any word for a key (``none``, ``EMPTY``), which programs may contain as well."""

_TELLING = re.compile(
    r"(?i)(?:\bauthorization\b[\"']?\s*[:=]\s*[\"']?)(?:(?:bearer|basic)\s+)?[^\s\"',;]+|\bbearer\s+[\w.~+/=-]{8,}"
)


class BadEndpoint(ValueError):
    """The address or the key cannot be used; ``str()`` is one line that never holds the key."""


@dataclasses.dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible server. ``base_url`` ends before ``/chat/completions``; ``key`` is empty where none is."""

    model: str
    base_url: str = OPENAI
    key: str = dataclasses.field(default="", repr=False)

    def __post_init__(self) -> None:
        """Raises BadEndpoint."""
        if not self.model.strip() or not self.model.isprintable():
            raise BadEndpoint(f"no model is called {self.model!r}")
        _require_address(self.base_url)
        _require_key(self.key)

    @property
    def host(self) -> str:
        """The server's name and port: what reports and headers of seeds may tell."""
        return urllib.parse.urlsplit(self.base_url).netloc

    def hide(self, text: str) -> str:
        """``text`` without the key and without anything that looks like a header which carries one.

        A server may send back whatever it was sent.
        """
        if len(self.key) >= _SHORTEST_SECRET:
            for spelling in {self.key, urllib.parse.quote(self.key, safe="")}:
                text = text.replace(spelling, HIDDEN)
        return _TELLING.sub(HIDDEN, text)


def take_key(base_url: str, variable: str | None, file: Path | None) -> str:
    """The key from ``file``, or from the environment's ``variable``, which is removed there: programs inherit it.

    Without either it is that of OPENAI_API_KEY, which goes to OpenAI's own address only; other addresses get none.
    Raises BadEndpoint.
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
    own = base_url.rstrip("/") == OPENAI
    name = variable or (OPENAI_KEY if own else None)
    key = (os.environ.pop(name, "") if name is not None else "").strip()
    if not key and (variable is not None or own):
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
        raise BadEndpoint("the address may hold no password, query or fragment: the key has an option of its own")
    if parts.scheme not in ("http", "https") or not host or not url.isprintable() or " " in url:
        raise BadEndpoint(f"{url!r} is not an address: write http://HOST:PORT/v1 or https://…")


def _require_key(key: str) -> None:
    if not key.isascii() or any(c.isspace() or not c.isprintable() for c in key):
        raise BadEndpoint("the key is no single word of ASCII characters")
