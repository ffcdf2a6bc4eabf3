"""What calls for a change show of the project, and what the user asks for."""

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
    """The part of a project that a change concerns."""

    files: Sequence[ShownFile] = ()
    context: str = ""  # signatures of what the files use
    tests: Sequence[ShownTest] = ()  # those that concern the files
    omitted_tests: int = 0  # how many more there are


@dataclass(frozen=True)
class WishedChange:
    """What the user asks for."""

    wish: str
    fence: Sequence[str] = ()  # this, and the next two, restrict or extend the wish
    unlocked: Sequence[str] = ()
    given_tests: str = ""
    test_files: Collection[str] = ()  # tests under names that do not say so: not changed either
