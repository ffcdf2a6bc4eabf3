"""What a run wrote: its output, head and tail kept, and its side channel, all bounded."""

from __future__ import annotations

import os

_CHUNK = 65536


class _Kept:
    """Head and tail of a stream, and how much it was."""

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self.head, self.tail, self.total = bytearray(), bytearray(), 0

    def take(self, data: bytes) -> None:
        self.total += len(data)
        room = self._half - len(self.head)
        self.head += data[: max(0, room)]
        self.tail += data[max(0, room) :]
        del self.tail[: -self._half]

    @property
    def cut(self) -> int:
        """How many bytes of it were not kept."""
        return self.total - len(self.head) - len(self.tail)

    def text(self) -> bytes:
        middle = f"\n[… {self.cut} bytes cut …]\n".encode() if self.cut > 0 else b""
        return bytes(self.head) + middle + bytes(self.tail)


class Streams:
    """Output and, where they come apart from it, errors (head and tail kept, all counted), and the
    result (whole, up to its limit)."""

    def __init__(self, *, kept_bytes: int, output_bytes: int, result_bytes: int) -> None:
        self._most = {"output": output_bytes, "result": result_bytes}
        self._written = {name: _Kept(kept_bytes) for name in ("output", "errors")}
        self.result = bytearray()

    @classmethod
    def within(cls, limits: dict[str, int]) -> Streams:
        """With those of a run's limits that are meant for it."""
        names = ("kept_bytes", "output_bytes", "result_bytes")
        return cls(**{name: limits[name] for name in names})

    def take(self, name: str, data: bytes) -> bool:
        """Keeps a piece; False where the limit is passed."""
        if name == "result":
            self.result += data
            return len(self.result) <= self._most["result"]
        self._written[name].take(data)
        return self._total() <= self._most["output"]

    def read(self, handle: int, name: str) -> bool | None:
        """Takes a piece from a descriptor: False where that passed the limit, None at its end.

        Raises:
            BlockingIOError: nothing is there yet.
        """
        data = os.read(handle, _CHUNK)
        return self.take(name, data) if data else None

    def _total(self) -> int:
        return sum(item.total for item in self._written.values())

    def count(self) -> int:
        """Bytes that came so far."""
        return self._total() + len(self.result)

    def output(self) -> bytes:
        return self._written["output"].text()

    def errors(self) -> bytes:
        return self._written["errors"].text()

    def cut(self) -> list[str]:
        """Which of the two were too long to be kept."""
        return [name for name, item in self._written.items() if item.cut]
