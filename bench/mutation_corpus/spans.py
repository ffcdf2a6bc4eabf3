"""Data structure: a set of whole numbers kept as sorted, disjoint, half-open spans."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator


class Spans:
    """`Spans([(1, 4), (7, 9)])` holds 1, 2, 3, 7 and 8."""

    def __init__(self, spans: Iterable[tuple[int, int]] = ()) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in spans:
            self.add(start, end)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(zip(self._starts, self._ends, strict=True))

    def __len__(self) -> int:
        return sum(end - start for start, end in self)

    def __bool__(self) -> bool:
        return bool(self._starts)

    def __contains__(self, number: int) -> bool:
        place = bisect_right(self._starts, number) - 1
        return place >= 0 and number < self._ends[place]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Spans):
            return NotImplemented
        return list(self) == list(other)

    def add(self, start: int, end: int) -> None:
        """Joined with spans that it meets or touches."""
        _check(start, end)
        if start == end:
            return
        first = bisect_left(self._ends, start)
        last = bisect_right(self._starts, end)
        if first < last:
            start = min(start, self._starts[first])
            end = max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]

    def remove(self, start: int, end: int) -> None:
        """What lies within is taken out; spans that reach over it are cut."""
        _check(start, end)
        if start == end:
            return
        first = bisect_right(self._ends, start)
        last = bisect_left(self._starts, end)
        if first >= last:
            return
        left, right = self._starts[first], self._ends[last - 1]
        starts, ends = [], []
        if left < start:
            starts.append(left)
            ends.append(start)
        if right > end:
            starts.append(end)
            ends.append(right)
        self._starts[first:last] = starts
        self._ends[first:last] = ends

    def gaps(self, start: int, end: int) -> list[tuple[int, int]]:
        """What is missing between two numbers."""
        _check(start, end)
        found = []
        at = start
        for left, right in self:
            if right <= start:
                continue
            if left >= end:
                break
            if left > at:
                found.append((at, left))
            at = right
        if at < end:
            found.append((at, end))
        return found

    def both(self, other: Spans) -> Spans:
        """What is in this and in the other."""
        result = Spans()
        mine, theirs = list(self), list(other)
        i = j = 0
        while i < len(mine) and j < len(theirs):
            start = max(mine[i][0], theirs[j][0])
            end = min(mine[i][1], theirs[j][1])
            if start < end:
                result.add(start, end)
            if mine[i][1] < theirs[j][1]:
                i += 1
            else:
                j += 1
        return result

    def first_free(self, size: int, start: int = 0) -> int:
        """Where the first gap of this size begins."""
        if size < 1:
            raise ValueError("size must be positive")
        at = start
        for left, right in self:
            if right <= at:
                continue
            if left - at >= size:
                return at
            at = right
        return at


def _check(start: int, end: int) -> None:
    if start > end:
        raise ValueError(f"{start} is after {end}")
