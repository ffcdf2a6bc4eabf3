"""What a run wrote, kept where no later copy of this process will find it.

Memory of Python's own is given back to Python, not to the kernel: a copy that is made later could
look through it. So what comes from a run is read straight into a mapping that ends with the run.
"""

from __future__ import annotations

import contextlib
import mmap
import os

_CHUNK = 65536


class _Ends:
    """Head and tail of a stream in a mapping, and how much it was."""

    def __init__(self, most: int) -> None:
        self._keep = most // 2
        self._head, self._tail = (_mapping(size) for size in (self._keep, self._keep + _CHUNK))
        self._in_head = self._in_tail = self.total = 0

    def read(self, handle: int) -> int:
        """Takes a piece; how much it was."""
        room = self._keep - self._in_head
        start = self._in_tail
        place = self._head[self._in_head :] if room else self._tail[start : start + _CHUNK]
        count = os.readv(handle, [place])
        self.total += count
        if room:
            self._in_head += count
        else:
            self._in_tail += count
        spare = self._in_tail - self._keep
        if spare > 0:
            self._tail[: self._keep] = self._tail[spare : spare + self._keep]
            self._in_tail = self._keep
        return count

    @property
    def cut(self) -> int:
        return self.total - self._in_head - self._in_tail

    def pieces(self) -> list[memoryview]:
        """The head, a word on what was cut where something was, and the tail."""
        middle = f"\n[… {self.cut} bytes cut …]\n".encode() if self.cut > 0 else b""
        return [self._head[: self._in_head], memoryview(middle), self._tail[: self._in_tail]]

    def close(self) -> None:
        for view in (self._head, self._tail):
            _give_back(view)


class Captured:
    """Output and errors (head and tail kept, all counted), result (whole, up to its limit), where
    it was: in bytes.
    """

    def __init__(self, limits: dict[str, int]) -> None:
        self._most = {"output": limits["output_bytes"], "result": limits["result_bytes"]}
        self._written = {name: _Ends(limits["kept_bytes"]) for name in ("output", "errors")}
        self._result, self._where = _mapping(self._most["result"] + _CHUNK), _mapping(_CHUNK)
        self._used = {"result": 0, "where": 0}

    def read(self, handle: int, name: str) -> bool | None:
        """As `Streams.read`."""
        if name == "result":
            return self._read_result(handle)
        count = self._written[name].read(handle)
        return self._total() <= self._most["output"] if count else None

    def _read_result(self, handle: int) -> bool | None:
        used = self._used["result"]
        count = os.readv(handle, [self._result[used : used + _CHUNK]])
        self._used["result"] = used + count
        return used + count <= self._most["result"] if count else None

    def read_where(self, handle: int) -> None:
        """What was answered to where the run is, if anything was."""
        os.set_blocking(handle, False)
        with contextlib.suppress(BlockingIOError):
            self._used["where"] = os.readv(handle, [self._where])

    def _total(self) -> int:
        return sum(item.total for item in self._written.values())

    def count(self) -> int:
        """Bytes that came so far."""
        return self._total() + self._used["result"]

    def output(self) -> list[memoryview]:
        return self._written["output"].pieces()

    def errors(self) -> list[memoryview]:
        return self._written["errors"].pieces()

    def cut(self) -> list[str]:
        """Which of the two were too long to be kept."""
        return [name for name, item in self._written.items() if item.cut]

    def result(self) -> list[memoryview]:
        return [self._result[: self._used["result"]]]

    def where(self) -> list[memoryview]:
        return [self._where[: self._used["where"]]]

    def close(self) -> None:
        """Gives the memory back to the kernel. Nothing that was handed out may be in use."""
        for item in self._written.values():
            item.close()
        for view in (self._result, self._where):
            _give_back(view)


def _mapping(size: int) -> memoryview:
    return memoryview(mmap.mmap(-1, max(size, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))


def _give_back(view: memoryview) -> None:
    mapping = view.obj
    view.release()
    assert isinstance(mapping, mmap.mmap)
    mapping.close()
