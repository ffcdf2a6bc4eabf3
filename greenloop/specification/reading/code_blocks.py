"""Examples in blocks of Python: calls with a result in a comment, and assertions."""

import ast
import re
from collections.abc import Iterator

from greenloop.records import GivenExample
from greenloop.specification.reading.doctests import render_outcome, render_part
from greenloop.specification.reading.expressions import is_closed_node
from greenloop.specification.reading.outcomes import Outcome, read_outcome
from greenloop.specification.reading.sentences import find_stated_examples
from greenloop.specification.reading.sequences import leave_out_sequences
from greenloop.syntax.nodes import Function

_COMMENT = re.compile(
    r"\s*\#+\s*(?:(?:->|→|=>|==|returns?\b|gives\b|evaluates\sto\b|[Oo]utput:)\s*|(raises?\b)\s*)?"
)
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Assert, ast.Import, ast.ImportFrom)  # fmt: skip


def find_code_examples(tree: ast.Module, source: str) -> Iterator[GivenExample | str]:
    """Yield the examples of a block that parses, and those that its docstrings state.

    Statements that depend on each other (`cart = Cart()`, then `cart.total()  # 4`) are one
    example.
    """
    lines = source.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, (Function, ast.ClassDef, ast.Module)):
            yield from find_stated_examples(hide_doctests(ast.get_docstring(node) or ""))
        if isinstance(node, Function) and node.name.startswith("test"):
            yield from _find_independent(node.body, lines)
    if any(isinstance(item, _SIMPLE[:3]) for item in tree.body):
        yield from _find_dependent(tree.body, lines)
    else:
        yield from _find_independent(tree.body, lines)


def hide_doctests(text: str) -> str:
    """Remove the text of doctests, which `extract_doctests` reads."""
    return re.sub(r"^[ \t]*>>>.*(?:\n[ \t]*\S.*)*", "", text, flags=re.MULTILINE)


def _find_independent(body: list[ast.stmt], lines: list[str]) -> Iterator[GivenExample | str]:
    return leave_out_sequences((item, False) for item in _iter_independent(body, lines))


def _iter_independent(body: list[ast.stmt], lines: list[str]) -> Iterator[GivenExample]:
    for node in body:
        if isinstance(node, ast.Assert) and is_closed_node(node.test):
            yield GivenExample(doctest=_render_assertion(node.test))
        elif isinstance(node, ast.Expr) and is_closed_node(node.value):
            if isinstance(node.value, ast.Compare):
                yield GivenExample(doctest=_render_assertion(node.value))
            elif isinstance(node.value, ast.Call) and (outcome := _read_comment(node, lines)):
                yield GivenExample(doctest=_render_result(node.value, outcome))


def _find_dependent(body: list[ast.stmt], lines: list[str]) -> Iterator[GivenExample | str]:
    """Yield the whole block as one example where all of it is simple and states a result."""
    parts: list[str] = []
    results = 0
    for node in body:
        if not isinstance(node, _SIMPLE):
            return
        outcome = _read_comment(node, lines)
        results += outcome is not None or isinstance(node, ast.Assert)
        if isinstance(node, ast.Expr) and outcome:
            parts.append(_render_result(node.value, outcome))
            continue
        parts.append(render_part(ast.unparse(node)))
        if outcome and isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            parts.append(render_outcome(node.targets[0].id, outcome))
    if results:
        yield GivenExample(doctest="".join(parts))


def _render_assertion(test: ast.expr) -> str:
    """Render `f(1) == 2` as a call with its result, any other assertion unchanged."""
    if isinstance(test, ast.Compare) and isinstance(test.left, ast.Call) and len(test.ops) == 1:
        right = ast.unparse(test.comparators[0])
        found = read_outcome(right)
        is_value = found is not None and found[1] == len(right) and not found[0].is_error
        if found and is_value and isinstance(test.ops[0], (ast.Eq, ast.Is)):
            return _render_result(test.left, found[0])
    return render_part(f"assert {ast.unparse(test)}")


def _render_result(value: ast.expr, outcome: Outcome) -> str:
    """Render a call with its result; `print(x)  # [1]` states the value of `x`."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "print" and not outcome.is_error:
        if len(value.args) != 1 or outcome.source[0] not in "'\"[({":
            return render_part(ast.unparse(value)) + f"{outcome.source}\n"
        value = value.args[0]
    return render_outcome(ast.unparse(value), outcome)


def _read_comment(node: ast.stmt, lines: list[str]) -> Outcome | None:
    """Return the result in the comment after a statement, or after an arrow on the line below."""
    end = node.end_lineno or node.lineno
    behind = lines[end - 1].encode()[node.end_col_offset :].decode(errors="replace")
    below = lines[end] if end < len(lines) else ""
    found = _COMMENT.match(behind)
    if not found and re.match(r"\s*#+\s*(?:->|→|=>)", below):
        behind, found = below, _COMMENT.match(below)
    if not found:
        return None
    said = behind[found.end() :].strip()
    outcome = read_outcome(said, is_raised=bool(found[1]))
    is_whole = outcome and said[outcome[1] :].strip(" `.")[:1] in ("", "(", "#")
    return outcome[0] if outcome and is_whole else None
