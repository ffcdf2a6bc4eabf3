"""What a run wrote, kept where no later copy of this process will find it.

Memory of Python's own is given back to Python, not to the kernel: a copy that is made later could
look through it. So what comes from a run is read straight into a mapping that ends with the run.
"""

from __future__ import annotations

import contextlib
import mmap
import os

_CHUNK = 65536


class _MappedHeadAndTail:
    """Head and tail of a stream in a mapping, and how much it was."""

    def __init__(self, max_bytes: int) -> None:
        self._half_bytes = max_bytes // 2
        self._head, self._tail = (
            _map_memory(size) for size in (self._half_bytes, self._half_bytes + _CHUNK)
        )
        self._head_bytes = self._tail_bytes = self.total = 0

    def read(self, handle: int) -> int:
        """Takes a piece; how much it was."""
        room = self._half_bytes - self._head_bytes
        start = self._tail_bytes
        place = self._head[self._head_bytes :] if room else self._tail[start : start + _CHUNK]
        count = os.readv(handle, [place])
        self.total += count
        if room:
            self._head_bytes += count
        else:
            self._tail_bytes += count
        spare = self._tail_bytes - self._half_bytes
        if spare > 0:
            self._tail[: self._half_bytes] = self._tail[spare : spare + self._half_bytes]
            self._tail_bytes = self._half_bytes
        return count

    @property
    def omitted_bytes(self) -> int:
        return self.total - self._head_bytes - self._tail_bytes

    def pieces(self) -> list[memoryview]:
        """The head, a word on what was cut where something was, and the tail."""
        middle = (
            f"\n[… {self.omitted_bytes} bytes cut …]\n".encode() if self.omitted_bytes > 0 else b""
        )
        return [self._head[: self._head_bytes], memoryview(middle), self._tail[: self._tail_bytes]]

    def close(self) -> None:
        for view in (self._head, self._tail):
            _unmap(view)


class OutputCapture:
    """Output and errors (head and tail kept, all counted), result (whole, up to its limit), where
    it was: in bytes.
    """

    def __init__(self, limits: dict[str, int]) -> None:
        self._max_bytes = {"output": limits["output_bytes"], "result": limits["result_bytes"]}
        self._streams = {
            name: _MappedHeadAndTail(limits["kept_bytes"]) for name in ("output", "errors")
        }
        self._result, self._stack_dump = _map_memory(
            self._max_bytes["result"] + _CHUNK
        ), _map_memory(_CHUNK)
        self._used_bytes = {"result": 0, "where": 0}

    def read(self, handle: int, name: str) -> bool | None:
        """As `Streams.read`."""
        if name == "result":
            return self._read_result(handle)
        count = self._streams[name].read(handle)
        return self._count_written_bytes() <= self._max_bytes["output"] if count else None

    def _read_result(self, handle: int) -> bool | None:
        used = self._used_bytes["result"]
        count = os.readv(handle, [self._result[used : used + _CHUNK]])
        self._used_bytes["result"] = used + count
        return used + count <= self._max_bytes["result"] if count else None

    def read_stack_dump(self, handle: int) -> None:
        """What was answered to where the run is, if anything was."""
        os.set_blocking(handle, False)
        with contextlib.suppress(BlockingIOError):
            self._used_bytes["where"] = os.readv(handle, [self._stack_dump])

    def _count_written_bytes(self) -> int:
        return sum(item.total for item in self._streams.values())

    def count_bytes(self) -> int:
        """Bytes that came so far."""
        return self._count_written_bytes() + self._used_bytes["result"]

    def output(self) -> list[memoryview]:
        return self._streams["output"].pieces()

    def errors(self) -> list[memoryview]:
        return self._streams["errors"].pieces()

    def truncated_streams(self) -> list[str]:
        """Which of the two were too long to be kept."""
        return [name for name, item in self._streams.items() if item.omitted_bytes]

    def result(self) -> list[memoryview]:
        return [self._result[: self._used_bytes["result"]]]

    def stack_dump(self) -> list[memoryview]:
        return [self._stack_dump[: self._used_bytes["where"]]]

    def close(self) -> None:
        """Gives the memory back to the kernel. Nothing that was handed out may be in use."""
        for item in self._streams.values():
            item.close()
        for view in (self._result, self._stack_dump):
            _unmap(view)


def _map_memory(size: int) -> memoryview:
    return memoryview(mmap.mmap(-1, max(size, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))


def _unmap(view: memoryview) -> None:
    mapping = view.obj
    view.release()
    assert isinstance(mapping, mmap.mmap)
    mapping.close()
