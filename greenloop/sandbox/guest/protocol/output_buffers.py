"""What a run wrote: its output, head and tail kept, and its side channel, all bounded."""

from __future__ import annotations

import os

_CHUNK = 65536


class _HeadAndTail:
    """Head and tail of a stream, and how much it was."""

    def __init__(self, max_bytes: int) -> None:
        self._half_bytes = max_bytes // 2
        self.head, self.tail, self.total = bytearray(), bytearray(), 0

    def append(self, data: bytes) -> None:
        self.total += len(data)
        room = self._half_bytes - len(self.head)
        self.head += data[: max(0, room)]
        self.tail += data[max(0, room) :]
        del self.tail[: -self._half_bytes]

    @property
    def omitted_bytes(self) -> int:
        """How many bytes of it were not kept."""
        return self.total - len(self.head) - len(self.tail)

    def to_bytes(self) -> bytes:
        middle = (
            f"\n[… {self.omitted_bytes} bytes cut …]\n".encode() if self.omitted_bytes > 0 else b""
        )
        return bytes(self.head) + middle + bytes(self.tail)


class OutputBuffers:
    """Output and, where they come apart from it, errors (head and tail kept, all counted), and the
    result (whole, up to its limit)."""

    def __init__(self, *, kept_bytes: int, output_bytes: int, result_bytes: int) -> None:
        self._max_bytes = {"output": output_bytes, "result": result_bytes}
        self._streams = {name: _HeadAndTail(kept_bytes) for name in ("output", "errors")}
        self.result = bytearray()

    @classmethod
    def from_limits(cls, limits: dict[str, int]) -> OutputBuffers:
        """With those of a run's limits that are meant for it."""
        names = ("kept_bytes", "output_bytes", "result_bytes")
        return cls(**{name: limits[name] for name in names})

    def append(self, name: str, data: bytes) -> bool:
        """Keeps a piece; False where the limit is passed."""
        if name == "result":
            self.result += data
            return len(self.result) <= self._max_bytes["result"]
        self._streams[name].append(data)
        return self._count_written_bytes() <= self._max_bytes["output"]

    def read(self, handle: int, name: str) -> bool | None:
        """Takes a piece from a descriptor: False where that passed the limit, None at its end.

        Raises:
            BlockingIOError: nothing is there yet.
        """
        data = os.read(handle, _CHUNK)
        return self.append(name, data) if data else None

    def _count_written_bytes(self) -> int:
        return sum(item.total for item in self._streams.values())

    def count_bytes(self) -> int:
        """Bytes that came so far."""
        return self._count_written_bytes() + len(self.result)

    def output(self) -> bytes:
        return self._streams["output"].to_bytes()

    def errors(self) -> bytes:
        return self._streams["errors"].to_bytes()

    def truncated_streams(self) -> list[str]:
        """Which of the two were too long to be kept."""
        return [name for name, item in self._streams.items() if item.omitted_bytes]
