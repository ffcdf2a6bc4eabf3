"""One sandbox for all searches: the strongest of this machine."""

from collections.abc import Callable, Iterator

import pytest

from greenloop.records import Expectation, SearchResult
from greenloop.repair import search_patches
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.testsuite import TestFile


@pytest.fixture(scope="session")
def box() -> Iterator[Sandbox]:
    with open_sandbox(Settings.model_construct(timeout_s=8, memory_mb=512)) as opened:
        yield opened


@pytest.fixture(scope="session")
def repaired(box: Sandbox) -> Callable[..., SearchResult]:
    """Return a function that searches for a repair of a module `m`."""

    def repair(code: str, tests: str, **options: object) -> SearchResult:
        files = [TestFile("test_m.py", tests)]
        names = [line[4:].partition("(")[0] for line in tests.split("\n") if line[:8] == "def test"]
        expected = Expectation(ids=frozenset(f"test_m.py::{name}" for name in names))
        run = box.run_tests(code, files, module="m", expected=expected)
        return search_patches(box, code, files, "m", run=run, expected=expected, **options)  # type: ignore[arg-type]

    return repair
