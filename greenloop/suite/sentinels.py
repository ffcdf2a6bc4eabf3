"""Tests that must fail whatever the code is: where one does not, what tests stand on was changed."""

from __future__ import annotations

import re
from collections.abc import Iterator

# One for each thing that tests lean on; nothing of the tested module is in them.
_ASSERTIONS = (
    "assert 1 == 2",
    "assert [1] == [2]",
    "assert 1 == pytest.approx(2)",
    "assert isinstance(1, str)",
    "assert all([False])",
    "assert any([])",
    "assert len([]) == 1",
    "assert sorted([2, 1]) == [2, 1]",
    "assert math.isclose(1, 2)",
    "assert abs(1 - 3) < 1",
    "assert round(2.6) == 2",
    "assert sum([1, 2]) == 2",
    "assert max(1, 2) == 1",
    "assert min(1, 2) == 2",
    "assert list(zip([1], [2])) == []",
    "assert list(map(str, [1])) == []",
    "assert list(filter(None, [1])) == []",
    "assert list(range(2)) == []",
    "assert list(reversed([1, 2])) == [1, 2]",
    "assert set([1]) == set([2])",
    "assert dict(a=1) == dict(a=2)",
    "assert str(1) == '2'",
    "assert repr('a') == 'a'",
    "assert int('1') == 2",
    "assert float('1') == 2",
    "assert bool(0)",
    "assert tuple([1]) == ()",
    "assert hasattr(1, 'no_such_name')",
    "assert callable(1)",
    "assert issubclass(int, str)",
    "assert json.loads('[1]') == [2]",
    "assert json.dumps([1]) == '[2]'",
    "assert re.search('a', 'b')",
    "assert re.match('a', 'b')",
    "assert re.fullmatch('a', 'b')",
    "assert operator.eq(1, 2)",
    "assert copy.deepcopy([1]) == [2]",
    "pytest.fail('x')",
    "pytest.raises(ValueError, int, 1)",
    "with pytest.raises(ValueError):\n        pass",
    "with pytest.raises(ValueError, match='a'):\n        raise ValueError('b')",
    "with pytest.warns(UserWarning):\n        pass",
    "mock.Mock().assert_called_once_with(1)",
)
_METHODS = (
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
# What changes every test of its file, so these too.
_OF_ALL = re.compile(r"^(pytestmark\b|\s*def pytest_|from unittest import \*)", re.MULTILINE)


def sentinels(code: str, module: str) -> tuple[str, tuple[str, ...]]:
    """The test file with sentinels at its end, and their names; () where none can be put."""
    if _OF_ALL.search(code):
        return code, ()
    name = f"test_{module}_holds"
    while name in code:
        name += "_too"
    cls = "Test" + name.title().replace("_", "")
    functions = [f"{name}_{number}" for number in range(len(_ASSERTIONS))]
    methods = [f"{cls}::{name}_{number}" for number in range(len(_METHODS))]
    return f"{code}\n\n\n{''.join(_written(name, cls))}", (*functions, *methods)


def _written(name: str, cls: str) -> Iterator[str]:
    """Imports stand inside the functions: the file's own names must stay as they are."""
    imports = "".join(f"    {item}\n" for item in _IMPORTS)
    for number, body in enumerate(_ASSERTIONS):
        yield f"def {name}_{number}():\n{imports}    {body}\n\n\n"
    yield f"import unittest as {name}_unittest\n\n\n"
    yield f"class {cls}({name}_unittest.TestCase):\n"
    for number, body in enumerate(_METHODS):
        yield f"    def {name}_{number}(self):\n        {body}\n\n"
