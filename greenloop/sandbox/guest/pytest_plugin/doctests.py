"""The doctests of the run's files, as tests with ids of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def collect_doctests(session: Any, files: Iterable[str]) -> Iterator[Any]:
    """Items for the doctests of `files`; a file that cannot be loaded is a collection error.

    Not by `--doctest-modules`: for that the module would have to be a target, and so be searched
    for tests and have its assertions rewritten.
    """
    from _pytest.doctest import DoctestModule

    for file in files:
        yield from session.genitems(DoctestModule.from_parent(session, path=Path(file)))
