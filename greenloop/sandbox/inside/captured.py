"""What a run wrote, kept where no later copy of this process will find it.

Memory of Python's own is given back to Python, not to the kernel: a copy that is made later could
look through it. So what comes from a run is read straight into a mapping that ends with the run.
"""

from __future__ import annotations

import contextlib
import mmap
import os

_CHUNK = 65536


class Captured:
    """Output (head and tail kept, all counted), result (whole, up to its limit), where it was: in bytes."""

    def __init__(self, limits: dict[str, int]) -> None:
        self._keep = limits["kept_bytes"] // 2
        self._most = {"output": limits["output_bytes"], "result": limits["result_bytes"]}
        sizes = (self._most["result"] + _CHUNK, self._keep, self._keep + _CHUNK, _CHUNK)
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self._maps = [mmap.mmap(-1, max(size, 1), flags) for size in sizes]
        self._views = [memoryview(item) for item in self._maps]
        self._result, self._head, self._tail, self._where = self._views
        self._used = {"result": 0, "head": 0, "tail": 0, "where": 0}
        self._total = 0

    def read(self, handle: int, name: str) -> bool | None:
        """As `Streams.read`."""
        return self._read_result(handle) if name == "result" else self._read_output(handle)

    def _read_result(self, handle: int) -> bool | None:
        used = self._used["result"]
        count = os.readv(handle, [self._result[used : used + _CHUNK]])
        self._used["result"] = used + count
        return used + count <= self._most["result"] if count else None

    def _read_output(self, handle: int) -> bool | None:
        head, tail = self._used["head"], self._used["tail"]
        room = self._keep - head
        place = self._head[head:] if room else self._tail[tail : tail + _CHUNK]
        count = os.readv(handle, [place])
        if not count:
            return None
        self._total += count
        self._used["head" if room else "tail"] += count
        spare = self._used["tail"] - self._keep
        if spare > 0:
            self._tail[: self._keep] = self._tail[spare : spare + self._keep]
            self._used["tail"] = self._keep
        return self._total <= self._most["output"]

    def read_where(self, handle: int) -> None:
        """What was answered to where the run is, if anything was."""
        os.set_blocking(handle, False)
        with contextlib.suppress(BlockingIOError):
            self._used["where"] = os.readv(handle, [self._where])

    def count(self) -> int:
        """Bytes that came so far."""
        return self._total + self._used["result"]

    def output(self) -> list[memoryview]:
        """The head, a word on what was cut where something was, and the tail."""
        head, tail = self._head[: self._used["head"]], self._tail[: self._used["tail"]]
        cut = self._total - len(head) - len(tail)
        middle = f"\n[… {cut} bytes cut …]\n".encode() if cut > 0 else b""
        return [head, memoryview(middle), tail]

    def result(self) -> list[memoryview]:
        return [self._result[: self._used["result"]]]

    def where(self) -> list[memoryview]:
        return [self._where[: self._used["where"]]]

    def close(self) -> None:
        """Gives the memory back to the kernel. Nothing that was handed out may be in use."""
        for view in self._views:
            view.release()
        for item in self._maps:
            item.close()
