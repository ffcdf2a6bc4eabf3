"""Checks that are calls: `pytest.raises` and its like, and the methods of `unittest`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from greenloop.grading.assertion_mutation.literals import near
from greenloop.grading.assertion_mutation.operators import Assertions, Change
from greenloop.syntax.source import Text

RAISING = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
WARNING = frozenset({"warns", "assertWarns", "assertWarnsRegex"})
_PATTERN = '"\u2042 7919"'
# Raised where they are not awaited, these end the whole run.
_ENDING = (".KeyboardInterrupt", ".Exit", ".exit.Exception")
_OPPOSITES = dict(
    item.split(":")
    for item in (
        "assertTrue:assertFalse assertIsNone:assertIsNotNone assertIs:assertIsNot "
        "assertIn:assertNotIn assertNotEqual:assertEqual assertNotEquals:assertEqual "
        "assertIsInstance:assertNotIsInstance assertRegex:assertNotRegex "
        "assertGreater:assertLessEqual assertLess:assertGreaterEqual "
        "assertAlmostEqual:assertNotAlmostEqual"
    ).split()
)
_OPPOSITES |= {after: before for before, after in _OPPOSITES.items() if after not in _OPPOSITES}
_EQUALITIES = frozenset(
    "assertEqual assertEquals assertListEqual assertDictEqual assertTupleEqual assertSetEqual "
    "assertMultiLineEqual assertSequenceEqual assertCountEqual".split()
)
_ANY_NUMBER_OF_ARGUMENTS = 2


def called(node: ast.AST) -> str:
    """The last name of what is called: `raises` of `pytest.raises(…)`; '' where nothing is."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def is_raising(node: ast.expr) -> bool:
    """Whether this awaits an exception or a warning."""
    return called(node) in RAISING | WARNING


def of_raising(text: Text, call: ast.Call) -> Iterator[Change]:
    """An exception that is not raised; a text that is not said."""
    awaited = next(iter(call.args), None) or _keyword(call, "expected_exception")
    if awaited is None or f".{text.of(awaited)}".endswith(_ENDING):
        return
    other = "BufferError" if "BufferError" not in text.of(awaited) else "EOFError"
    if called(call) in WARNING:
        other = "ImportWarning" if "ImportWarning" not in text.of(awaited) else "BytesWarning"
    yield Change((text.replaced(awaited, other),), f"{called(call)}({other})")
    pattern = _keyword(call, "match")
    if called(call).endswith("Regex") and len(call.args) > 1:
        pattern = call.args[1]
    if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str) and pattern.value:
        yield Change((text.replaced(pattern, _PATTERN),), f"match={_PATTERN}")


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((item.value for item in call.keywords if item.arg == name), None)


def of_unittest(text: Text, own: Assertions, call: ast.Call) -> Iterator[Change]:
    """The changes of `self.assertEqual(…)` and its like."""
    name, function = called(call), call.func
    if not (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)):
        return
    if name in _EQUALITIES and len(call.args) >= _ANY_NUMBER_OF_ARGUMENTS:
        change = own.equal(call.args[0], call.args[1])
        if name == "assertCountEqual" and not (change.expected and near(change.expected)):
            return
        method = f"{function.value.id}.assertNotEqual"
        yield replace(change, opposite=text.replaced(function, method))
    elif name in _OPPOSITES and call.args:
        method = f"{function.value.id}.{_OPPOSITES[name]}"
        yield Change((text.replaced(function, method),), method, name == "assertNotEqual")
