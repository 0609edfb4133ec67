"""A terminal: runs a command on a pseudo-terminal, and shows what a person would see in it afterwards."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import termios
from collections.abc import Sequence

_TOKEN = re.compile(r"\x1b\[(?P<arguments>[\d;?]*)(?P<code>[A-Za-z])|(?P<character>.)", re.DOTALL)


class Screen:
    """What was written, in lines: all that has scrolled out, and the ``rows`` that the cursor can reach."""

    def __init__(self, columns: int, rows: int) -> None:
        self._columns = columns
        self._rows = rows
        self._lines: list[list[str]] = [[]]
        self._row = self._column = 0

    @property
    def lines(self) -> list[str]:
        """Everything from the first line on, without empty lines at the end."""
        lines = ["".join(line).rstrip() for line in self._lines]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def write(self, text: str) -> None:
        for token in _TOKEN.finditer(text):
            if token["code"]:
                self._control(token["code"], token["arguments"])
            else:
                self._put(token["character"])

    def _control(self, code: str, arguments: str) -> None:
        if code == "A":
            self._row = max(self._row - int(arguments or 1), len(self._lines) - self._rows, 0)
        elif code == "K" and arguments == "2":
            self._lines[self._row] = []

    def _put(self, character: str) -> None:
        if character == "\r":
            self._column = 0
        elif character == "\n":
            self._next_line()
        else:
            if self._column == self._columns:
                self._column = 0
                self._next_line()
            line = self._lines[self._row]
            line += [" "] * (self._column + 1 - len(line))
            line[self._column] = character
            self._column += 1

    def _next_line(self) -> None:
        self._row += 1
        if self._row == len(self._lines):
            self._lines.append([])


def run_on_terminal(
    command: Sequence[str], *, columns: int = 80, rows: int = 24, timeout: float = 120
) -> tuple[list[str], int]:
    """The lines that a terminal shows after ``command``, and its exit status."""
    ours, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = subprocess.Popen(
        command,
        stdin=its,
        stdout=its,
        stderr=its,
        env={**environment, "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(its)
    output = bytearray()
    try:
        while chunk := _read(ours):
            output += chunk
    finally:
        os.close(ours)
    screen = Screen(columns, rows)
    screen.write(output.decode())
    return screen.lines, process.wait(timeout)


def _read(terminal: int) -> bytes:
    """The next bytes; none at the end, which Linux reports as an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
