"""Output of a run in a container, in mappings that end with the run.

Python keeps freed memory for itself, where a process that is forked later could find it. So what a
run writes is read straight into memory that is unmapped before the next fork.
"""

from __future__ import annotations

import contextlib
import mmap
import os

from ..protocol.output_buffers import HeadAndTail, OutputBuffers

_CHUNK_BYTES = 65536


class _MappedHeadAndTail(HeadAndTail):
    """Head and tail of a stream in mappings."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes)
        self._head_view = _map_memory(self._half_bytes)
        self._tail_view = _map_memory(self._half_bytes + _CHUNK_BYTES)
        self._head_bytes = self._tail_bytes = 0

    def read(self, handle: int) -> int:
        start, half = self._tail_bytes, self._half_bytes
        fills_head = self._head_bytes < half
        target = self._head_view[self._head_bytes :] if fills_head else self._tail_view[start:]
        count = os.readv(handle, [target[:_CHUNK_BYTES] if not fills_head else target])
        self.total += count
        if fills_head:
            self._head_bytes += count
        else:
            self._tail_bytes += count
        excess = self._tail_bytes - half
        if excess > 0:
            self._tail_view[:half] = self._tail_view[excess : excess + half]
            self._tail_bytes = half
        return count

    @property
    def kept_bytes(self) -> int:
        """Number of bytes that are kept."""
        return self._head_bytes + self._tail_bytes

    def pieces(self) -> list[memoryview]:
        head, tail = self._head_view[: self._head_bytes], self._tail_view[: self._tail_bytes]
        return self._join_pieces(head, tail)

    def close(self) -> None:
        """Unmap the memory."""
        _unmap(self._head_view)
        _unmap(self._tail_view)


class OutputCapture(OutputBuffers):
    """Buffers of one run, and the stack dump that it was asked for, in mappings."""

    def __init__(self, *, kept_bytes: int, output_bytes: int, result_bytes: int) -> None:
        super().__init__(
            kept_bytes=kept_bytes, output_bytes=output_bytes, result_bytes=result_bytes
        )
        self._result_view = _map_memory(result_bytes + _CHUNK_BYTES)
        self._dump_view = _map_memory(_CHUNK_BYTES)
        self._result_bytes = self._dump_bytes = 0

    def _create_stream(self, kept_bytes: int) -> HeadAndTail:
        return _MappedHeadAndTail(kept_bytes)

    def _read_result(self, handle: int) -> bool | None:
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
        return super().count_bytes() + self._result_bytes

    def pieces(self, *, with_errors: bool) -> list[list[memoryview]]:
        """Return output, reports, stack dump [and errors], each in pieces that are not copied."""
        result, dump = self._result_view[: self._result_bytes], self._dump_view[: self._dump_bytes]
        errors = [self._streams["errors"].pieces()] if with_errors else []
        return [self._streams["output"].pieces(), [result], [dump], *errors]

    def close(self) -> None:
        """Unmap the memory. No piece may be in use any more."""
        for stream in self._streams.values():
            assert isinstance(stream, _MappedHeadAndTail)
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
