"""The test suite of a project, before it is changed."""

from __future__ import annotations

from functools import cached_property

from pydantic import Field

from greenloop.records.base import Record


class Baseline(Record):
    """What a project's tests do on its code as it is.

    `locked` are the tests that passed twice, by node id, with the SHA-256 digests of their files;
    `red` failed twice, `flaky` once. `problem` says in one line why the suite cannot be run.
    `seconds` is the time of one run. `reached` has for each line that was run a bit mask in
    hexadecimal of the locked tests that run it, 0 for a line that runs only at import; `branches`
    are those taken, as `12->15`, by path.
    """

    locked: dict[str, str] = Field(default_factory=dict)
    red: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    seconds: float = 0.0
    problem: str = ""
    reached: dict[str, dict[int, str]] = Field(default_factory=dict)
    branches: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    @cached_property
    def lines(self) -> dict[str, dict[int, tuple[str, ...]]]:
        """Return the locked tests that run a line, by path and line.

        Those of a line that runs only at import are all tests of its file, or all there are.
        """
        return {path: self._decode_lines(path) for path in self.reached}

    def _decode_lines(self, path: str) -> dict[int, tuple[str, ...]]:
        masks = {line: int(mask, 16) for line, mask in self.reached[path].items()}
        whole = 0
        for mask in masks.values():
            whole |= mask
        ids = tuple(self.locked)
        chosen = {
            mask: tuple(name for at, name in enumerate(ids) if mask >> at & 1) or ids
            for mask in {*masks.values(), whole}
        }
        return {line: chosen[mask or whole] for line, mask in masks.items()}
