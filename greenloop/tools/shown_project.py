"""What calls for a change show of the project, and what the user asks for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ShownFile:
    """A file as a prompt shows it; of a large one `left_out` function bodies are left out."""

    path: str
    text: str
    left_out: int = 0


@dataclass(frozen=True)
class ShownTest:
    """A test of the project as a prompt shows it."""

    id: str
    source: str


@dataclass(frozen=True)
class ShownProject:
    """The part of a project that a change concerns.

    `context` are signatures of what the files use, `tests` those that concern them, of which
    `omitted_tests` more are not shown.
    """

    files: Sequence[ShownFile] = ()
    context: str = ""
    tests: Sequence[ShownTest] = ()
    omitted_tests: int = 0


@dataclass(frozen=True)
class WishedChange:
    """What the user asks for: `fence`, `unlocked` and `given_tests` restrict or extend it.

    `test_files` hold tests under names that do not say so, and are not changed either.
    """

    wish: str
    fence: Sequence[str] = ()
    unlocked: Sequence[str] = ()
    given_tests: str = ""
    test_files: Collection[str] = ()
