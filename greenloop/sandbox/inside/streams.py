"""What a run wrote: its output, head and tail kept, and its side channel, all bounded."""

from __future__ import annotations

import os

_CHUNK = 65536


class Streams:
    """Output (head and tail kept, all counted) and result (whole, up to its limit)."""

    def __init__(self, *, kept_bytes: int, output_bytes: int, result_bytes: int) -> None:
        self._keep = kept_bytes // 2
        self._most = {"output": output_bytes, "result": result_bytes}
        self.head, self.tail, self.result = bytearray(), bytearray(), bytearray()
        self.total = 0

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
        self.total += len(data)
        room = self._keep - len(self.head)
        self.head += data[: max(0, room)]
        self.tail += data[max(0, room) :]
        del self.tail[: -self._keep]
        return self.total <= self._most["output"]

    def read(self, handle: int, name: str) -> bool | None:
        """Takes a piece from a descriptor: False where that passed the limit, None at its end.

        Raises:
            BlockingIOError: nothing is there yet.
        """
        data = os.read(handle, _CHUNK)
        return self.take(name, data) if data else None

    def count(self) -> int:
        """Bytes that came so far."""
        return self.total + len(self.result)

    def output(self) -> bytes:
        cut = self.total - len(self.head) - len(self.tail)
        middle = f"\n[… {cut} bytes cut …]\n".encode() if cut > 0 else b""
        return bytes(self.head) + middle + bytes(self.tail)
