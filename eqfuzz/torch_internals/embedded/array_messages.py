"""Messages between two processes with numpy: a letter, a length, and as many bytes. A script contains this text."""

import io
import struct
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy

HEAD = "<cQ"


def read_message(stream: BinaryIO) -> tuple[bytes, bytes] | None:
    """The next one; None at the end."""
    head = stream.read(struct.calcsize(HEAD))
    if len(head) < struct.calcsize(HEAD):
        return None
    kind, length = struct.unpack(HEAD, head)
    return kind, stream.read(length)


def write_message(stream: BinaryIO, kind: bytes, content: bytes) -> None:
    """Raises BrokenPipeError."""
    stream.write(struct.pack(HEAD, kind, len(content)) + content)
    stream.flush()


def packed(arrays: Sequence[Any]) -> bytes:
    """Arrays as bytes."""
    content = io.BytesIO()
    numpy.savez(content, *map(numpy.asarray, arrays))
    return content.getvalue()


def unpacked(content: bytes) -> list[numpy.ndarray]:
    """The arrays of ``packed``."""
    with numpy.load(io.BytesIO(content), allow_pickle=False) as archive:
        return [archive[name] for name in archive.files]
