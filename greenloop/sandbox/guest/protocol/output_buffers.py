"""Bounded buffers for a run's output (head and tail are kept) and for its reports."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

_CHUNK_BYTES = 65536


class HeadAndTail:
    """Head and tail of a stream, and its total length in bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._half_bytes, self.total = max_bytes // 2, 0
        self._head, self._tail = bytearray(), bytearray()

    def append(self, data: bytes) -> None:
        """Keep what fits of one more piece."""
        self.total += len(data)
        free = max(0, self._half_bytes - len(self._head))
        self._head += data[:free]
        self._tail += data[free:]
        del self._tail[: -self._half_bytes]

    def read(self, handle: int) -> int:
        """Read a piece from a descriptor and return its length."""
        data = os.read(handle, _CHUNK_BYTES)
        self.append(data)
        return len(data)

    @property
    def kept_bytes(self) -> int:
        """Number of bytes that are kept."""
        return len(self._head) + len(self._tail)

    def pieces(self) -> list[memoryview]:
        """Return the head, a note on what was cut, if anything was, and the tail."""
        return self._join_pieces(memoryview(self._head), memoryview(self._tail))

    def _join_pieces(self, head: memoryview, tail: memoryview) -> list[memoryview]:
        omitted = self.total - self.kept_bytes
        note = f"\n[… {omitted} bytes cut …]\n".encode() if omitted > 0 else b""
        return [head, memoryview(note), tail]


class OutputBuffers:
    """Standard output and, if separate, standard error (head and tail); reports (whole)."""

    def __init__(self, *, kept_bytes: int, output_bytes: int, result_bytes: int) -> None:
        """`output_bytes` and `result_bytes` are the limits that `append` and `read` check."""
        self._max_output_bytes, self._max_result_bytes = output_bytes, result_bytes
        self._streams = {name: self._create_stream(kept_bytes) for name in ("output", "errors")}
        self.result = bytearray()

    def _create_stream(self, kept_bytes: int) -> HeadAndTail:
        return HeadAndTail(kept_bytes)

    @classmethod
    def from_limits(cls, limits: dict[str, int]) -> Self:
        """Create buffers with the limits of a run."""
        names = ("kept_bytes", "output_bytes", "result_bytes")
        return cls(**{name: limits[name] for name in names})

    def append(self, name: str, data: bytes) -> bool:
        """Keep a piece; return False if the limit is exceeded."""
        if name == "result":
            self.result += data
            return len(self.result) <= self._max_result_bytes
        self._streams[name].append(data)
        return self._is_output_within_limit()

    def read(self, handle: int, name: str) -> bool | None:
        """Read a piece from a descriptor: False if that exceeded the limit, None at the end.

        Raises:
            BlockingIOError: there is nothing to read yet.
        """
        if name == "result":
            return self._read_result(handle)
        return self._is_output_within_limit() if self._streams[name].read(handle) else None

    def _read_result(self, handle: int) -> bool | None:
        data = os.read(handle, _CHUNK_BYTES)
        return self.append("result", data) if data else None

    def _is_output_within_limit(self) -> bool:
        return sum(item.total for item in self._streams.values()) <= self._max_output_bytes

    def count_bytes(self) -> int:
        """Return the number of bytes received so far."""
        return sum(item.total for item in self._streams.values()) + len(self.result)

    def output(self) -> bytes:
        """Return what is kept of standard output."""
        return b"".join(self._streams["output"].pieces())

    def errors(self) -> bytes:
        """Return what is kept of standard error."""
        return b"".join(self._streams["errors"].pieces())

    def truncated_streams(self) -> list[str]:
        """Return the names of the streams that were too long to be kept whole."""
        return [name for name, item in self._streams.items() if item.total > item.kept_bytes]
