"""Which file called for a skip, by the lines that the error has passed."""

import linecache
import unittest
from typing import Any

import pytest

from greenloop.sandbox.guest.pytest_plugin.failure_details import find_skipping_file

SKIP = "def f(): pytest.skip('x')\n"


def raise_from(path: str, text: str) -> BaseException:
    """Return the error of a function of a file, which another file calls."""
    names: dict[str, Any] = {"__name__": "m", "pytest": pytest, "unittest": unittest}
    linecache.cache[path] = (len(text), None, [text], path)
    exec(compile(text, path, "exec"), names)
    exec(compile("def call(): f()", "/work/test_m.py", "exec"), names)
    with pytest.raises(BaseException) as raised:
        names["call"]()
    return raised.value.with_traceback(raised.tb.tb_next)


@pytest.mark.parametrize(
    ("path", "text", "place"),
    [
        ("/work/m.py", SKIP, "m.py"),
        ("/lib/site-packages/m.py", SKIP, "/lib/site-packages/m.py"),
        ("/work/m.py", "def f(): raise unittest.SkipTest('x')\n", "m.py"),
        ("/work/m.py", "def f(): pytest.xfail('x')\n", "m.py"),
        # A check that a patched library turned into a skip, and what `exec` has run.
        ("/work/m.py", "def f(fail=getattr(pytest, 'sk' + 'ip')): fail('x')\n", ""),
        ("<string>", SKIP, ""),
    ],
)
def test_the_line_that_calls_for_a_skip_counts(path: str, text: str, place: str) -> None:
    error = raise_from(path, text)
    replaced = pytest.skip.Exception("x")  # by a test case of unittest
    replaced.__context__ = error
    assert find_skipping_file(error, "/work/") == place
    if isinstance(error, unittest.SkipTest):
        assert find_skipping_file(replaced, "/work/") == place
