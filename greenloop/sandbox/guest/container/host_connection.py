"""Connection from a container to its host."""

import os

from ..protocol.framing import write_all
from ..zygote.file_descriptors import reserve_fds


class HostConnection:
    """The two pipes that were standard input and output when the container started."""

    def __init__(self) -> None:
        """Move the pipes to other descriptors, so that nothing else writes to them."""
        self._incoming, self._outgoing = reserve_fds(os.dup(0)), os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(2, 1)
        os.close(null)

    def fileno(self) -> int:
        """Return the descriptor of the incoming pipe."""
        return self._incoming

    def recv(self, size: int, /) -> bytes:
        """Read at most `size` bytes; b'' if the host has disconnected."""
        return os.read(self._incoming, size)

    def sendall(self, data: bytes | memoryview, /) -> None:
        """Write all of the data."""
        write_all(self._outgoing, data)
