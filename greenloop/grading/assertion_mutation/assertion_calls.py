"""Assertions that are calls: `pytest.raises`, `pytest.warns` and the methods of `unittest`."""

import ast
from collections.abc import Iterator
from dataclasses import replace

from greenloop.grading.assertion_mutation.literals import change_literal
from greenloop.grading.assertion_mutation.operators import (
    AssertionChange,
    AssertionMutator,
    get_called_name,
)
from greenloop.syntax.source import Source

RAISES_NAMES = frozenset({"raises", "assertRaises", "assertRaisesRegex"})
WARNS_NAMES = frozenset({"warns", "assertWarns", "assertWarnsRegex"})
_UNMATCHABLE_PATTERN = '"\u2042 7919"'
# These end the whole run if no test expects them.
_SESSION_ENDING_EXCEPTIONS = (".KeyboardInterrupt", ".Exit", ".exit.Exception")
_UNUSUAL_EXCEPTIONS = ("BufferError", "EOFError", "FloatingPointError", "UnicodeTranslateError")
_UNUSUAL_WARNINGS = ("ImportWarning", "BytesWarning", "UnicodeWarning")
_OPPOSITE_METHODS = dict(
    item.split(":")
    for item in (
        "assertTrue:assertFalse assertIsNone:assertIsNotNone assertIs:assertIsNot "
        "assertIn:assertNotIn assertNotEqual:assertEqual assertNotEquals:assertEqual "
        "assertIsInstance:assertNotIsInstance assertRegex:assertNotRegex "
        "assertGreater:assertLessEqual assertLess:assertGreaterEqual "
        "assertAlmostEqual:assertNotAlmostEqual"
    ).split()
)
_OPPOSITE_METHODS |= {
    after: before for before, after in _OPPOSITE_METHODS.items() if after not in _OPPOSITE_METHODS
}
_EQUALITY_METHODS = frozenset(
    "assertEqual assertEquals assertListEqual assertDictEqual assertTupleEqual assertSetEqual "
    "assertMultiLineEqual assertSequenceEqual assertCountEqual".split()
)
_MIN_EQUALITY_ARGUMENTS = 2


def is_exception_check(node: ast.expr) -> bool:
    """Whether a call expects an exception or a warning."""
    return get_called_name(node) in RAISES_NAMES | WARNS_NAMES


def change_exception_check(
    source: Source, call: ast.Call, program: str = ""
) -> Iterator[AssertionChange]:
    """Yield changes that expect an exception that is not raised, or a message that none has.

    The source of the code does not name this exception, as its own classes may derive from it.
    """
    expected_type = next(iter(call.args), None) or _get_keyword(call, "expected_exception")
    segment = source.get_segment(expected_type) if expected_type else ""
    if expected_type is None or f".{segment}".endswith(_SESSION_ENDING_EXCEPTIONS):
        return
    name = get_called_name(call)
    others = _UNUSUAL_WARNINGS if name in WARNS_NAMES else _UNUSUAL_EXCEPTIONS
    other = next((item for item in others if item not in segment + program), others[-1])
    edit = source.replace_node(expected_type, other)
    yield AssertionChange((edit,), f"{name}({other})", exception=expected_type)
    pattern = _get_keyword(call, "match")
    if name.endswith("Regex") and len(call.args) > 1:
        pattern = call.args[1]
    if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str) and pattern.value:
        edit = source.replace_node(pattern, _UNMATCHABLE_PATTERN)
        yield AssertionChange((edit,), f"match={_UNMATCHABLE_PATTERN}")


def _get_keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((item.value for item in call.keywords if item.arg == name), None)


def change_unittest_assertion(
    source: Source, mutator: AssertionMutator, call: ast.Call
) -> Iterator[AssertionChange]:
    """Yield changes of `self.assertEqual(…)` and similar methods."""
    name, function = get_called_name(call), call.func
    if not (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)):
        return
    if name in _EQUALITY_METHODS and len(call.args) >= _MIN_EQUALITY_ARGUMENTS:
        change = mutator.change_equality(call.args[0], call.args[1])
        if name == "assertCountEqual":  # the order of the expected items does not count
            if not (change.expected and change_literal(change.expected)):
                return
            change = replace(change, expected=None)
        method = f"{function.value.id}.assertNotEqual"
        yield replace(change, opposite=source.replace_node(function, method))
    elif name in _OPPOSITE_METHODS and call.args:
        method = f"{function.value.id}.{_OPPOSITE_METHODS[name]}"
        actual = call.args[0] if name == "assertNotEqual" else None
        yield AssertionChange((source.replace_node(function, method),), method, actual)
