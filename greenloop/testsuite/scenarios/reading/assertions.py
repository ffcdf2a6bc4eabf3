"""Assertions of unittest and of mocks as `assert` statements, and calls of `raises` as blocks."""

from __future__ import annotations

import ast

from greenloop.testsuite.scenarios.names import dotted_name
from greenloop.testsuite.scenarios.nodes import expression, located, tuple_of

_TWO_OPERANDS = {
    "assertEqual": "_a == _b",
    "assertNotEqual": "_a != _b",
    "assertIs": "_a is _b",
    "assertIsNot": "_a is not _b",
    "assertIn": "_a in _b",
    "assertNotIn": "_a not in _b",
    "assertLess": "_a < _b",
    "assertLessEqual": "_a <= _b",
    "assertGreater": "_a > _b",
    "assertGreaterEqual": "_a >= _b",
    "assertListEqual": "_a == _b",
    "assertDictEqual": "_a == _b",
    "assertTupleEqual": "_a == _b",
    "assertSetEqual": "_a == _b",
    "assertMultiLineEqual": "_a == _b",
    "assertSequenceEqual": "list(_a) == list(_b)",
    "assertIsInstance": "isinstance(_a, _b)",
    "assertNotIsInstance": "not isinstance(_a, _b)",
    "assertCountEqual": "count_equal__(_a, _b)",
    "assertRegex": "re_search__(_b, _a)",
    "assertNotRegex": "not re_search__(_b, _a)",
    "assertAlmostEqual": "almost_equal__(_a, _b, 7)",
    "assertNotAlmostEqual": "not almost_equal__(_a, _b, 7)",
}
_ONE_OPERAND = {
    "assertTrue": "_a",
    "assertFalse": "not _a",
    "assertIsNone": "_a is None",
    "assertIsNotNone": "_a is not None",
}
_MOCK_CHECKS = {
    "assert_called_once": "_m.call_count == 1",
    "assert_called": "_m.call_count > 0",
    "assert_not_called": "_m.call_count == 0",
    "assert_awaited_once": "_m.await_count == 1",
    "assert_called_once_with": "_m.call_args_list == [_c]",
    "assert_called_with": "_m.call_args == _c",
    "assert_any_call": "_c in _m.call_args_list",
    "assert_awaited_once_with": "_m.await_args_list == [_c]",
}
_BLOCKS = {
    "raises": "raises",
    "assertRaises": "raises",
    "assertRaisesRegex": "raises",
    "warns": "warns",
    "assertWarns": "warns",
    "assertWarnsRegex": "warns",
    "deprecated_call": "warns",
}
_PAIR = 2


def block_kind(node: ast.AST) -> str:
    """Return "raises" or "warns" for such a call, '' for other expressions."""
    if not isinstance(node, ast.Call):
        return ""
    owner, _, called = dotted_name(node.func).rpartition(".")
    is_known = owner in ("self", "") if called.startswith("assert") else owner in ("", "pytest")
    return _BLOCKS.get(called, "") if is_known else ""


def block_arguments(node: ast.Call) -> tuple[ast.expr, ast.expr]:
    """Return the classes that a `raises` or `warns` expects, and the pattern or None."""
    arguments = list(node.args) + [item.value for item in node.keywords if item.arg != "match"]
    pattern = [item.value for item in node.keywords if item.arg == "match"]
    if dotted_name(node.func).endswith("Regex"):
        pattern, arguments = arguments[1:2], arguments[:1]
    default = "Exception"
    if dotted_name(node.func).endswith("deprecated_call"):
        default = "(DeprecationWarning, PendingDeprecationWarning, FutureWarning)"
    classes = arguments[0] if arguments else expression(default)
    return classes, pattern[0] if pattern else ast.Constant(None)


def as_plain(node: ast.stmt) -> ast.stmt:
    """Return a statement with assertions of unittest and mocks as `assert` or `with raises`."""
    if not isinstance(node, (ast.Expr, ast.Assign)) or not isinstance(node.value, ast.Call):
        return node
    call = node.value
    block = _as_block(call, node)
    if block is not None:
        return located(block, node)
    test = _as_test(call) if isinstance(node, ast.Expr) else None
    return located(ast.Assert(test), node) if test is not None else node


def as_expectation(node: ast.stmt) -> list[ast.stmt]:
    """Return `try: …; fail() except Error as e: …` as a `with raises` and the handler's statements."""
    if not isinstance(node, ast.Try) or len(node.handlers) != 1 or node.finalbody:
        return [node]
    handler, body = node.handlers[0], node.body
    is_failing = [_fails(item) for item in (*body[-1:], *node.orelse[:1])]
    if handler.type is None or not any(is_failing):
        return [node]
    if is_failing[0]:
        body = body[:-1]
    caught = f"{handler.name or 'caught'}__raised"
    call = expression("raises(_e)", _e=handler.type)
    expected = ast.With([ast.withitem(call, ast.Name(caught, ast.Store()))], body)
    made: list[ast.stmt] = [located(expected, node)]
    if handler.name:
        target = ast.Name(handler.name, ast.Store())
        made.append(located(ast.Assign([target], expression(f"{caught}.value")), handler))
    return [*made, *handler.body]


def _fails(node: ast.stmt) -> bool:
    """Return whether a statement fails the test whenever it is reached."""
    if isinstance(node, ast.Assert):
        return isinstance(node.test, ast.Constant) and not node.test.value
    call = node.value if isinstance(node, ast.Expr) else getattr(node, "exc", None)
    called = dotted_name(getattr(call, "func", call)) if call is not None else ""
    return called in ("pytest.fail", "self.fail", "AssertionError")


def _as_block(call: ast.Call, node: ast.Expr | ast.Assign) -> ast.With | None:
    """Return `raises(Error, function, *arguments)` as a `with` statement."""
    kind, first = block_kind(call), 1
    if dotted_name(call.func).endswith("Regex"):
        first = _PAIR
    if kind != "raises" or len(call.args) <= first:
        return None
    inner = ast.Call(call.args[first], call.args[first + 1 :], call.keywords)
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    item = ast.withitem(ast.Call(call.func, call.args[:first], []), target)
    return ast.With([item], [located(ast.Expr(inner), node)])


def _as_test(call: ast.Call) -> ast.expr | None:
    """Return the condition that a call asserts; None where it asserts nothing that is known."""
    owner, _, called = dotted_name(call.func).rpartition(".")
    if called.startswith("assert_") and owner and isinstance(call.func, ast.Attribute):
        template = _MOCK_CHECKS.get(called)
        made = ast.Call(expression("call"), call.args, call.keywords)
        return expression(template, _m=call.func.value, _c=made) if template else None
    if owner != "self" or not call.args:
        return None
    if called in _ONE_OPERAND:
        return expression(_ONE_OPERAND[called], _a=call.args[0])
    if called in _TWO_OPERANDS and len(call.args) >= _PAIR:
        return _as_comparison(called, call)
    return None


def _as_comparison(called: str, call: ast.Call) -> ast.expr:
    left, right = call.args[0], call.args[1]
    options = {item.arg: item.value for item in call.keywords}
    if "AlmostEqual" in called:
        places = call.args[2] if len(call.args) > _PAIR else options.get("places")
        limit = tuple_of([places or ast.Constant(7), options.get("delta") or ast.Constant(None)])
        text = _TWO_OPERANDS[called].replace(", 7", ", *_limit")
        return expression(text, _a=left, _b=right, _limit=limit)
    return expression(_TWO_OPERANDS[called], _a=left, _b=right)
