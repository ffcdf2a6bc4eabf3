"""Which file called for a skip, by the lines that the error has passed."""

import linecache
import unittest
from types import TracebackType
from typing import Any

import pytest

from greenloop.sandbox.guest.pytest_plugin.failure_details import find_skipping_file

WORK = "/work/"
SKIP = "import pytest\ndef f(): pytest.skip('x')\n"


def raise_from(path: str, text: str) -> BaseException:
    """Return the error of a function of a file, which another file calls."""
    names: dict[str, Any] = {"__name__": "m"}
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    exec(compile(text, path, "exec"), names)
    caller = compile("def call(f): f()", f"{WORK}test_m.py", "exec")
    exec(caller, names)
    with pytest.raises(BaseException) as raised:
        names["call"](names["f"])
    trace = raised.value.__traceback__
    assert isinstance(trace, TracebackType)
    return raised.value.with_traceback(trace.tb_next)


@pytest.mark.parametrize(
    ("path", "text", "place"),
    [
        ("/work/m.py", SKIP, "m.py"),
        ("/lib/site-packages/m.py", SKIP, "/lib/site-packages/m.py"),
        ("/work/m.py", "import unittest\ndef f(): raise unittest.SkipTest('x')\n", "m.py"),
        ("/work/m.py", "import pytest\ndef f(): pytest.xfail('x')\n", "m.py"),
        # A check that a patched library turned into a skip, and what `exec` has run.
        ("/work/m.py", "import pytest\nfail = pytest.skip\ndef f(): fail('x')\n", ""),
        ("<string>", SKIP, ""),
    ],
)
def test_the_line_that_calls_for_a_skip_counts(path: str, text: str, place: str) -> None:
    assert find_skipping_file(raise_from(path, text), WORK) == place


def test_what_a_test_case_raises_in_place_of_a_skip_is_traced_to_it() -> None:
    skip = raise_from("/work/m.py", "import unittest\ndef f(): raise unittest.SkipTest('x')\n")
    replaced = pytest.skip.Exception("x")
    replaced.__context__ = skip
    assert isinstance(skip, unittest.SkipTest)
    assert find_skipping_file(replaced, WORK) == "m.py"
