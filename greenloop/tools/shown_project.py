"""What calls for a change show of the project, and what the user asks for."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from greenloop.testsuite.parser import parse_test_functions


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


def read_tests(texts: Mapping[str, str], ids: Collection[str]) -> Iterator[ShownTest]:
    """Yield tests of files by their node ids, without those of rows."""
    for path in sorted({item.partition("::")[0] for item in ids}):
        for function in parse_test_functions(texts.get(path, "")):
            name = f"{path}::{function.name}"
            if name in ids:
                yield ShownTest(name, function.source(texts[path]))
