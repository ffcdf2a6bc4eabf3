"""Bounded buffers for a run's output (head and tail are kept) and for its reports, in mappings.

Python keeps freed memory, in which a process that is forked later could find data. So the output of
a run is read directly into memory that `close` unmaps.
"""

import contextlib
import mmap
import os
import re

_CHUNK_BYTES = 65536
_ITEM_DONE = re.compile(rb'"event": "(?:test|mutant)"')


class _HeadAndTail:
    """Head and tail of a stream, and its total length in bytes."""

    def __init__(self, max_bytes: int) -> None:
        self._half_bytes, self.total = max_bytes // 2, 0
        self._head_view = _map_memory(self._half_bytes)
        self._tail_view = _map_memory(self._half_bytes + _CHUNK_BYTES)
        self._head_bytes = self._tail_bytes = 0

    def read(self, handle: int) -> int:
        """Read a piece from a descriptor and return its length."""
        half = self._half_bytes
        if self._head_bytes < half:
            count = os.readv(handle, [self._head_view[self._head_bytes : half]])
            self._head_bytes += count
        else:
            start = self._tail_bytes
            count = os.readv(handle, [self._tail_view[start : start + _CHUNK_BYTES]])
            self._tail_bytes += count
        self.total += count
        excess = self._tail_bytes - half
        if excess > 0:
            self._tail_view[:half] = self._tail_view[excess : excess + half]
            self._tail_bytes = half
        return count

    @property
    def omitted_bytes(self) -> int:
        """Number of bytes that are not kept."""
        return self.total - self._head_bytes - self._tail_bytes

    def pieces(self) -> list[memoryview]:
        """Return the head, a note on the number of bytes cut (b'' if none) and the tail."""
        omitted = self.omitted_bytes
        note = f"\n[… {omitted} bytes cut …]\n".encode() if omitted > 0 else b""
        head, tail = self._head_view[: self._head_bytes], self._tail_view[: self._tail_bytes]
        return [head, memoryview(note), tail]

    def close(self) -> None:
        """Unmap the memory."""
        _unmap(self._head_view)
        _unmap(self._tail_view)


class OutputBuffers:
    """Standard output and, if separate, standard error (head and tail); reports; stack dump."""

    def __init__(self, limits: dict[str, int]) -> None:
        """`limits` are those of the run."""
        self._max_output_bytes = limits["output_bytes"]
        self._max_result_bytes = limits["result_bytes"]
        names = ("output", "errors")
        self._streams = {name: _HeadAndTail(limits["kept_bytes"]) for name in names}
        self._result_view = _map_memory(self._max_result_bytes + _CHUNK_BYTES)
        self._dump_view = _map_memory(_CHUNK_BYTES)
        self._result_bytes = self._dump_bytes = 0
        self._items_done = self._counted_bytes = 0

    def read(self, handle: int, name: str) -> bool | None:
        """Read a piece from a descriptor; return False if it exceeds the limit, None at the end.

        Raises BlockingIOError if there is nothing to read yet.
        """
        if name != "result":
            count = self._streams[name].read(handle)
            total = sum(item.total for item in self._streams.values())
            return total <= self._max_output_bytes if count else None
        used = self._result_bytes
        count = os.readv(handle, [self._result_view[used : used + _CHUNK_BYTES]])
        self._result_bytes += count
        return self._result_bytes <= self._max_result_bytes if count else None

    def read_stack_dump(self, handle: int) -> None:
        """Read the stack dump from a descriptor, if there is one."""
        os.set_blocking(handle, False)
        with contextlib.suppress(BlockingIOError):
            self._dump_bytes = os.readv(handle, [self._dump_view])

    def count_bytes(self) -> int:
        """Return the number of bytes received so far."""
        return sum(item.total for item in self._streams.values()) + self._result_bytes

    def count_items(self) -> int:
        """Return the number of finished tests or mutants according to the reports so far."""
        with self._result_view[: self._result_bytes] as received:
            for found in _ITEM_DONE.finditer(received, self._counted_bytes):
                self._items_done += 1
                self._counted_bytes = found.end()
                del found  # it keeps the view in use
        return self._items_done

    def list_truncated_streams(self) -> list[str]:
        """Return the names of the streams that were too long to be kept completely."""
        return [name for name, item in self._streams.items() if item.omitted_bytes > 0]

    def pieces(self) -> list[list[memoryview]]:
        """Return output, reports and stack dump, each in pieces that are not copied."""
        result, dump = self._result_view[: self._result_bytes], self._dump_view[: self._dump_bytes]
        return [self._streams["output"].pieces(), [result], [dump]]

    def error_pieces(self) -> list[memoryview]:
        """Return standard error in pieces that are not copied."""
        return self._streams["errors"].pieces()

    def close(self) -> None:
        """Unmap the memory. No piece may be in use any more."""
        for stream in self._streams.values():
            stream.close()
        _unmap(self._result_view)
        _unmap(self._dump_view)


def _map_memory(size: int) -> memoryview:
    return memoryview(mmap.mmap(-1, max(size, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))


def _unmap(view: memoryview) -> None:
    mapping = view.obj
    view.release()
    assert isinstance(mapping, mmap.mmap)
    mapping.close()
