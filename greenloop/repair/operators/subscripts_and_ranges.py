"""Operators on subscripts, ranges and comprehensions."""

import ast

from greenloop.repair.context import Edits, RepairContext
from greenloop.syntax.operators.protocol import edit_operator

_PREDICATES = ("isalnum", "isalpha", "isdigit")


@edit_operator()
def change_subscript(context: RepairContext, node: ast.Subscript) -> Edits:
    """Replace `x[i]` by `x`, `x[0]` by `x[-1]`, `x[i][j]` by `x[j][i]`."""
    base, inner = context.text(node.value), context.text(node.slice)
    if isinstance(node.ctx, ast.Load):
        cost = 2.3 if isinstance(node.slice, ast.Slice) else 2.6
        yield context.edit(node, base, "subscript left out", cost)
    if isinstance(node.slice, ast.Slice):
        return
    for other in ("-1", "0"):
        if inner != other:
            yield context.edit(node.slice, other, "index", 2.0)
    if isinstance(node.value, ast.Subscript) and not isinstance(node.value.slice, ast.Slice):
        root, first = context.text(node.value.value), context.text(node.value.slice)
        yield context.edit(node, f"{root}[{inner}][{first}]", "swapped indices", 1.5)
    if isinstance(node.ctx, ast.Load):
        for default in ("", ", 0", ", None", ", []"):
            yield context.edit(node, f"{base}.get({inner}{default})", "missing key", 2.6)


@edit_operator()
def change_range(context: RepairContext, node: ast.Call) -> Edits:
    """Change the start, end or step of `range`, or the start of `enumerate`."""
    if not isinstance(node.func, ast.Name) or node.keywords:
        return
    given = [context.text(item) for item in node.args]
    if node.func.id == "range" and given:
        if len(given) == 1:
            starts = ["1", *context.scope.names[:6]]
            for start in starts:
                yield context.edit(node, f"range({start}, {given[0]})", "range", 1.8)
            yield context.edit(node, f"range({given[0]} - 1, -1, -1)", "range", 2.6)
        elif len(given) == 2:
            start, end = given
            yield context.edit(node, f"range({end})", "range", 2.0)
            yield context.edit(node, f"range({end} - 1, {start} - 1, -1)", "range", 2.6)
            for step in ("-1", *context.scope.names[:6]):
                yield context.edit(node, f"range({start}, {end}, {step})", "range", 2.8)
    elif node.func.id == "enumerate" and len(given) == 1:
        yield context.edit(node, f"enumerate({given[0]}, 1)", "range", 1.8)
    elif node.func.id == "enumerate" and len(given) == 2:
        yield context.edit(node, f"enumerate({given[0]})", "range", 1.8)


@edit_operator()
def change_comprehension(context: RepairContext, node: ast.comprehension | ast.BinOp) -> Edits:
    """Drop or add a filter; replace `[x] * n` by a comprehension."""
    if isinstance(node, ast.comprehension):
        for item in node.ifs:
            start = context.source.text.rfind("if", 0, context.source.span(item)[0])
            end = context.source.span(item)[1]
            yield context.edit_span(start, end, "", "filter left out", 2.6)
        if not node.ifs:
            end = context.source.span(node.iter)[1]
            targets = [item.id for item in ast.walk(node.target) if isinstance(item, ast.Name)]
            for name in targets:
                for sign in ("", "not "):
                    added = f" if {sign}{name}"
                    yield context.edit_span(end, end, added, "filter", 2.5 if not sign else 2.9)
                yield context.edit_span(end, end, f" if {name} is not None", "filter", 3.0)
                for method in _PREDICATES if context.scope.may_be_text(name) else ():
                    yield context.edit_span(end, end, f" if {name}.{method}()", "filter", 2.9)
            for text in context.scope.conditions[:6]:
                yield context.edit_span(end, end, f" if {text}", "filter", 3.2)
    elif isinstance(node.op, ast.Mult):
        for many, count in ((node.left, node.right), (node.right, node.left)):
            if isinstance(many, ast.List) and len(many.elts) == 1:
                element = context.text(many.elts[0])
                text = f"[{element} for _ in range({context.text(count)})]"
                yield context.edit(node, text, "one list for each", 1.5)
