"""Canaries: tests that must fail whatever the code is.

A canary is put at the beginning of an existing test, so that the code under test sees neither a new
test nor a new name.
"""

import ast
import textwrap

from greenloop.grading.assertion_mutation.candidates import (
    AssertionMutant,
    AssertionScope,
    MutableTestFile,
)
from greenloop.grading.assertion_mutation.certainty import Certainty
from greenloop.grading.assertion_mutation.operators import AssertionChange
from greenloop.syntax.source import TextEdit

_FAILURE = "assert 1 == 2\n"
# No check uses the tested module. The test returns, and so passes, if a false expression is true or
# a call that must raise does not. Each check runs by itself, so that an error hides no other check.
_CHECKS = """\
import copy, json, math, operator, pytest, re, unittest
from unittest import mock
case = unittest.TestCase()
for is_true in (
    lambda: all([False]), lambda: any([]), lambda: len([]) == 1, lambda: [1] == [2],
    lambda: sorted([2, 1]) == [2, 1], lambda: abs(1 - 3) < 1, lambda: round(2.6) == 2,
    lambda: sum([1, 2]) == 2, lambda: max(1, 2) == 1, lambda: min(1, 2) == 2,
    lambda: list(zip([1], [2])) == [], lambda: list(map(str, [1])) == [],
    lambda: list(filter(None, [1])) == [], lambda: list(range(2)) == [],
    lambda: list(reversed([1, 2])) == [1, 2], lambda: set([1]) == set([2]),
    lambda: dict(a=1) == dict(a=2), lambda: str(1) == '2', lambda: repr('a') == 'a',
    lambda: int('1') == 2, lambda: float('1') == 2, lambda: bool(0), lambda: tuple([1]) == (),
    lambda: isinstance(1, str), lambda: hasattr(1, 'no_such_name'), lambda: callable(1),
    lambda: issubclass(int, str), lambda: math.isclose(1, 2), lambda: json.loads('[1]') == [2],
    lambda: json.dumps([1]) == '[2]', lambda: re.search('a', 'b'), lambda: re.match('a', 'b'),
    lambda: re.fullmatch('a', 'b'), lambda: operator.eq(1, 2), lambda: copy.deepcopy([1]) == [2],
    lambda: 1 == pytest.approx(2),
):
    try:
        if is_true():
            return
    except BaseException:
        continue
for must_raise in (
    lambda: case.assertEqual(1, 2), lambda: case.assertTrue(0), lambda: case.assertFalse(1),
    lambda: case.assertIs(1, None), lambda: case.assertIsNone(1), lambda: case.assertIn(1, [2]),
    lambda: case.assertAlmostEqual(1, 2), lambda: case.assertGreater(1, 2),
    lambda: case.assertIsInstance(1, str), lambda: case.assertRaises(ValueError, int, 1),
    lambda: case.assertRegex('a', 'b'), lambda: case.assertCountEqual([1], [2]),
    lambda: case.fail(), lambda: pytest.fail('x'), lambda: pytest.raises(ValueError, int, 1),
    lambda: mock.Mock().assert_called_once_with(1),
):
    try:
        must_raise()
    except BaseException:
        continue
    return
try:
    with pytest.raises(ValueError, match='a'):
        raise ValueError('b')
    return
except BaseException:
    pass
try:
    with pytest.warns(UserWarning):
        pass
    return
except BaseException:
    pass
"""


def find_canary(file: MutableTestFile, tests: list[str]) -> AssertionMutant | None:
    """Return the last of these tests, changed so that it must fail; None if none is suitable."""
    for test in reversed(tests):
        scope = file.scopes.get(test)
        first = scope.function.body[0] if scope else None
        if scope is None or first is None or scope.certainty is not Certainty.CERTAIN:
            continue
        start = file.source.line_start(first.lineno)
        indent = file.source.text[start : file.source.span(first)[0]]
        if not indent.isspace() or getattr(first, "decorator_list", None):
            continue
        code = (_CHECKS if _is_plain(scope, file) else "") + _FAILURE
        edit = TextEdit(start, start, textwrap.indent(code, indent))
        change = AssertionChange((edit,), "must fail")
        return AssertionMutant(scope, first.lineno, change, Certainty.CERTAIN)
    return None


def _is_plain(scope: AssertionScope, file: MutableTestFile) -> bool:
    """Whether nothing can replace what the checks call: no fixture, set-up method or patch."""
    *classes, _ = scope.test.split("::")
    parents = [file.classes[name] for name in classes if name in file.classes]
    members = [ast.unparse(item) for node in parents for item in (*node.bases, *node.body)]
    marks = [ast.unparse(item) for item in scope.function.decorator_list]
    arguments = {item.arg for item in scope.function.args.args} - {"self"}
    return (
        "autouse" not in file.source.text
        and all(".mark." in f".{text}" for text in marks)
        and all(any(name in text for text in marks) for name in arguments)
        and not any("def set" in text or "fixture" in text for text in members)
    )
