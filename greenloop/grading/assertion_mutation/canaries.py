"""Canaries: tests that must fail whatever the code is."""

from __future__ import annotations

import re
from collections.abc import Iterator

# None uses the tested module. Each of these is a test.
_STATEMENT_CANARIES = (
    "assert 1 == 2",
    "assert [1] == [2]",
    "assert isinstance(1, str)",
    "assert math.isclose(1, 2)",
    "pytest.fail('x')",
    "with pytest.raises(ValueError):\n        pass",
)
# False expressions, one for each function that assertions use. One test has all of them.
_FALSE_EXPRESSIONS = (
    "all([False])",
    "any([])",
    "len([]) == 1",
    "sorted([2, 1]) == [2, 1]",
    "abs(1 - 3) < 1",
    "round(2.6) == 2",
    "sum([1, 2]) == 2",
    "max(1, 2) == 1",
    "min(1, 2) == 2",
    "list(zip([1], [2])) == []",
    "list(map(str, [1])) == []",
    "list(filter(None, [1])) == []",
    "list(range(2)) == []",
    "list(reversed([1, 2])) == [1, 2]",
    "set([1]) == set([2])",
    "dict(a=1) == dict(a=2)",
    "str(1) == '2'",
    "repr('a') == 'a'",
    "int('1') == 2",
    "float('1') == 2",
    "bool(0)",
    "tuple([1]) == ()",
    "isinstance(1, str)",
    "hasattr(1, 'no_such_name')",
    "callable(1)",
    "issubclass(int, str)",
    "math.isclose(1, 2)",
    "json.loads('[1]') == [2]",
    "json.dumps([1]) == '[2]'",
    "re.search('a', 'b')",
    "re.match('a', 'b')",
    "re.fullmatch('a', 'b')",
    "operator.eq(1, 2)",
    "copy.deepcopy([1]) == [2]",
)
# Statements that raise, in one test, and those of `unittest` in one method.
_RAISING_STATEMENTS = (
    "assert 1 == pytest.approx(2)",
    "pytest.raises(ValueError, int, 1)",
    "with pytest.raises(ValueError, match='a'):\n            raise ValueError('b')",
    "with pytest.warns(UserWarning):\n            pass",
    "mock.Mock().assert_called_once_with(1)",
)
_UNITTEST_CALLS = (
    "self.assertEqual(1, 2)",
    "self.assertTrue(0)",
    "self.assertFalse(1)",
    "self.assertIs(1, None)",
    "self.assertIsNone(1)",
    "self.assertIn(1, [2])",
    "self.assertAlmostEqual(1, 2)",
    "self.assertGreater(1, 2)",
    "self.assertIsInstance(1, str)",
    "self.assertRaises(ValueError, int, 1)",
    "self.assertRegex('a', 'b')",
    "self.assertCountEqual([1], [2])",
    "self.fail()",
)
_IMPORTS = (
    "import copy, json, math, operator, re",
    "import pytest",
    "from unittest import mock",
)
# Code that changes every test of its file, canaries too.
_FILE_WIDE_HOOKS = re.compile(
    r"^(pytestmark\b|\s*def pytest_|from unittest import \*)", re.MULTILINE
)


def add_canaries(code: str, module: str) -> tuple[str, tuple[str, ...]]:
    """Return the test file with canaries at its end, and their names; () where it can have none."""
    if _FILE_WIDE_HOOKS.search(code):
        return code, ()
    name = f"test_{module}_holds"
    while name in code:
        name += "_too"
    cls = "Test" + name.title().replace("_", "")
    functions = [f"{name}_{number}" for number in range(len(_STATEMENT_CANARIES) + 2)]
    return f"{code}\n\n\n{''.join(_render_canaries(name, cls))}", (*functions, f"{cls}::{name}")


def _render_canaries(name: str, cls: str) -> Iterator[str]:
    """Yield the tests; imports are in functions, so that the file's names do not change."""
    imports = "".join(f"    {item}\n" for item in _IMPORTS)
    bodies = [f"    {body}\n" for body in _STATEMENT_CANARIES]
    bodies += [f"{_render_lambdas(_FALSE_EXPRESSIONS, 'if call(): return')}    assert 1 == 2\n"]
    bodies += ["".join(map(_render_try, _RAISING_STATEMENTS)) + "    assert 1 == 2\n"]
    for number, body in enumerate(bodies):
        yield f"def {name}_{number}():\n{imports}{body}\n\n"
    raising = _render_lambdas(_UNITTEST_CALLS, "call(); return")
    method = f"    def {name}(self):\n{raising}    self.fail()\n".replace("\n    ", "\n        ")
    yield f"import unittest as {name}_unittest\n\n\n"
    yield f"class {cls}({name}_unittest.TestCase):\n{method}"


def _render_try(statement: str) -> str:
    """Return lines that return, so that the test passes, where the statement raises nothing.

    Each statement is tried by itself, so that an error in one hides no other.
    """
    return (
        f"    try:\n        {statement}\n        return\n    except BaseException:\n        pass\n"
    )


def _render_lambdas(expressions: tuple[str, ...], test: str) -> str:
    """Return the same for expressions, which are called one by one, as `call`, in `test`."""
    calls = "".join(f"        lambda: {item},\n" for item in expressions)
    return (
        f"    for call in (\n{calls}    ):\n        try:\n            {test}\n"
        "        except BaseException:\n            continue\n"
    )
