"""Parts of a project in the prompts of a change, and the user's wish."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from greenloop.testsuite.parser import parse_test_functions


@dataclass(frozen=True)
class ShownFile:
    """A file as a prompt shows it, without `left_out` function bodies if it is large."""

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
    """The user's wish, with what restricts or extends it."""

    wish: str
    fence: Sequence[str] = ()  # globs of files that may change
    unlocked: Sequence[str] = ()
    given_tests: str = ""
    test_files: Collection[str] = ()  # tests whose file names do not show it; they do not change


def read_tests(texts: Mapping[str, str], ids: Collection[str]) -> Iterator[ShownTest]:
    """Yield the tests with the given node ids of functions, not of parametrized rows."""
    for path in sorted({item.partition("::")[0] for item in ids}):
        for function in parse_test_functions(texts.get(path, "")):
            name = f"{path}::{function.name}"
            if name in ids:
                yield ShownTest(name, function.source(texts[path]))
