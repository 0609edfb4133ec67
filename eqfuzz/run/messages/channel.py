"""A socket between the parent and a process that forks: packets with file descriptors."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Sequence

from eqfuzz.run.messages.codec import Decoder, M, Message, encode

MAX_PACKET = 2**17
MAX_DESCRIPTORS = 8


class Channel:
    """A socket that keeps packets apart and carries file descriptors (unix, seqpacket)."""

    def __init__(self, end: socket.socket) -> None:
        self.socket = end

    @classmethod
    def pair(cls) -> tuple[Channel, Channel]:
        """Two connected ends, neither of which survives an exec."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        return cls(ours), cls(theirs)

    @classmethod
    def of(cls, descriptor: int) -> Channel:
        """The channel whose socket is ``descriptor``, which programs started from here on do not inherit."""
        os.set_inheritable(descriptor, False)
        return cls(socket.socket(fileno=descriptor))

    def fileno(self) -> int:
        """The socket's file descriptor."""
        return self.socket.fileno()

    def send(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        """Send one packet. Raises ``OSError`` when the other end is closed, ``ValueError`` when it is too long."""
        packet = encode(message)
        if len(packet) > MAX_PACKET:
            raise ValueError(f"a message of {len(packet)} bytes, at most {MAX_PACKET} fit")
        socket.send_fds(self.socket, [packet], list(descriptors))

    def receive(self, decoder: Decoder[M], timeout: float | None = None) -> tuple[M, list[int]] | None:
        """The next packet and its descriptors; None when the other end is closed.

        Raises ``TimeoutError`` after ``timeout`` seconds, ``BadMessage`` for a packet that is no message.
        """
        self.socket.settimeout(timeout)
        try:
            packet, descriptors, _, _ = socket.recv_fds(
                self.socket, MAX_PACKET, MAX_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
            )
        except ConnectionResetError:
            return None
        finally:
            self.socket.settimeout(None)
        if not packet:
            return None
        return decoder.decode(packet), descriptors

    def is_abandoned(self) -> bool:
        """Whether the other end is closed, whatever packets of it are still to be read."""
        poll = select.poll()
        poll.register(self.socket, 0)
        return bool(poll.poll(0))

    def close(self) -> None:
        """Close this end."""
        self.socket.close()
