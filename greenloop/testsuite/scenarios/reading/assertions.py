"""Assertions of unittest and of mocks as `assert` statements, and calls of `raises` as blocks."""

from __future__ import annotations

import ast

from greenloop.testsuite.scenarios.names import get_dotted_name
from greenloop.testsuite.scenarios.nodes import expression, locate_like

_ASSERTIONS = {
    "assertTrue": "_a",
    "assertFalse": "not _a",
    "assertIsNone": "_a is None",
    "assertIsNotNone": "_a is not None",
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
    "assertAlmostEqual": "almost_equal__(_a, _b, _places, _delta)",
    "assertNotAlmostEqual": "not almost_equal__(_a, _b, _places, _delta)",
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
_OPERANDS = ("_a", "_b", "_places")
_BLOCKS = {
    "raises": "raises",
    "assertRaises": "raises",
    "assertRaisesRegex": "raises",
    "warns": "warns",
    "assertWarns": "warns",
    "assertWarnsRegex": "warns",
}


def block_kind(node: ast.AST) -> str:
    """Return "raises" or "warns" for such a call, '' for other expressions."""
    if not isinstance(node, ast.Call):
        return ""
    owner, _, called = get_dotted_name(node.func).rpartition(".")
    is_known = owner in ("self", "") if called.startswith("assert") else owner in ("", "pytest")
    return _BLOCKS.get(called, "") if is_known else ""


def block_arguments(node: ast.Call) -> tuple[ast.expr, ast.expr]:
    """Return the classes that a `raises` or `warns` expects, and the pattern or None."""
    options = {item.arg: item.value for item in node.keywords}
    pattern = options.pop("match", ast.Constant(None))
    arguments = [*node.args, *options.values()]
    if get_dotted_name(node.func).endswith("Regex"):
        pattern = arguments[1]
    return arguments[0] if arguments else expression("Exception"), pattern


def as_plain(node: ast.Expr | ast.Assign) -> ast.stmt:
    """Return a statement with an assertion of a method as `assert`, `raises` as a block."""
    call = node.value
    if isinstance(node, ast.Expr) and isinstance(call, ast.Constant):
        return locate_like(ast.Pass(), node)
    if not isinstance(call, ast.Call):
        return node
    owner, _, called = get_dotted_name(call.func).rpartition(".")
    first = 2 if called.endswith("Regex") else 1
    if block_kind(call) == "raises" and len(call.args) > first:
        inner = ast.Call(call.args[first], call.args[first + 1 :], call.keywords)
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        item = ast.withitem(ast.Call(call.func, call.args[:first], []), target)
        return locate_like(ast.With([item], [locate_like(ast.Expr(inner), node)]), node)
    if owner and called in _MOCK_CHECKS and isinstance(call.func, ast.Attribute):
        wanted = ast.Call(expression("call__"), call.args, call.keywords)
        test = expression(_MOCK_CHECKS[called], _m=call.func.value, _c=wanted)
        return locate_like(ast.Assert(test), node)
    template = _ASSERTIONS.get(called, "") if owner == "self" else ""
    if not template or len(call.args) <= ("_b" in template):
        return node
    parts: dict[str, ast.expr] = {key: ast.Constant(None) for key in ("_places", "_delta")}
    parts |= {f"_{item.arg}": item.value for item in call.keywords}
    parts |= dict(zip(_OPERANDS, call.args, strict=False))
    return locate_like(ast.Assert(expression(template, **parts)), node)
