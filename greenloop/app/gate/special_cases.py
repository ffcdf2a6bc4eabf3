"""Examples of tests that new code answers by themselves, in place of the rule."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from greenloop.project.diff import ProjectDiff
from greenloop.project.weakening.names import list_values
from greenloop.project.weakening.strength import Strength
from greenloop.project.weakening.tests import ComparedTest, read_tests
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_empty, read_literal
from greenloop.testsuite.parser import is_test_path

_MIN_NUMBER, _MIN_ITEMS = 3, 2
_ASKING = re.compile(
    r"PYTEST_(CURRENT_TEST|VERSION)|['\"](pytest|unittest)['\"] (not )?in sys\.modules"
)
_KEYWORD = re.compile(r"[\w.:/-]*")


def find_special_cases(diff: ProjectDiff, said: Sequence[str]) -> Iterator[str]:
    """Yield each new branch for one value that gives the constant which a test expects for it.

    A value that a line in `said` names is a rule; so is one of several that are told apart.
    """
    texts = {path: text for path, text in diff.tree.texts.items() if is_test_path(path)}
    for path, lines in diff.lines.items():
        code = diff.tree.texts[path].split("\n") if path not in texts else []
        asking = (i for i in sorted(lines) if 0 < i <= len(code) and _ASKING.search(code[i - 1]))
        for line in asking:
            yield f"{path}:{line} asks whether a test runs it: do the same for every caller"
        for line, value, answer in [] if path in texts else _find_answers(diff.tree.texts[path]):
            is_named = any(str(value) in text for text in said)
            if line in lines and not is_named and (test := _find_asking(texts, value, answer)):
                yield (
                    f"{path}:{line} answers {value!r} by itself, as {test} asks: write the rule that "
                    "the example stands for; if it is a rule of its own, say so in a document"
                )


def _find_answers(code: str) -> Iterator[tuple[int, object, object]]:
    """Yield the line, the value and the constant of `if x == value: return constant`."""
    for function in ast.walk(parse_or_empty(code)):
        if not isinstance(function, Function):
            continue
        compared = [node for node in ast.walk(function) if isinstance(node, ast.Compare)]
        count = Counter(ast.dump(node.left) for node in compared)
        for node in ast.walk(function):
            if isinstance(node, (ast.If, ast.IfExp)) and (answers := _list_constants(node)):
                for item in ast.walk(node.test):
                    value = _read_example(item)
                    if value and count[ast.dump(item.left)] == 1:  # type: ignore[attr-defined]
                        given = (i for i in answers if not _is_code_of(value[0], i))
                        yield from ((node.lineno, value[0], answer) for answer in given)


def _is_code_of(value: object, answer: object) -> bool:
    """Return whether a number is one that stands for a text, as 404 does."""
    return isinstance(value, int) and isinstance(answer, str)


def _list_constants(node: ast.If | ast.IfExp) -> list[object]:
    """Return what a branch gives at once, where that is a constant."""
    match node:
        case ast.IfExp(body=given) | ast.If(body=[ast.Return(value=ast.expr() as given)]):
            found = read_literal(given)
        case ast.If(body=[ast.Assign(value=given)]):
            found = read_literal(given)
        case _:
            found = ()
    return [item for item in found if not isinstance(item, bool) and item not in (None, "", 0)]


def _read_example(node: ast.AST) -> tuple[object, ...]:
    """Return the value that a comparison asks for, where it is no mere keyword or small number."""
    match node:
        case ast.Compare(ops=[ast.Eq()], comparators=[right]):
            return tuple(item for item in read_literal(right) if _is_example(item))
    return ()


def _is_example(value: object) -> bool:
    if isinstance(value, (str, bytes)):
        text = value if isinstance(value, str) else value.decode("latin-1")
        return not _KEYWORD.fullmatch(text)
    if isinstance(value, (int, float)):
        return not isinstance(value, bool) and abs(value) >= _MIN_NUMBER
    return isinstance(value, (list, tuple, dict, set)) and len(value) >= _MIN_ITEMS


def _find_asking(texts: dict[str, str], value: object, answer: object) -> str:
    """Return a test that expects an answer for a value, '' where none does."""
    wanted = list_values(ast.parse(repr([value, answer])))
    for path, text in texts.items():
        if wanted <= list_values(parse_or_empty(text)):
            found = (item for item in read_tests({path: text}).values() if _asks(item, wanted))
            if item := next(found, None):
                return item.test
    return ""


def _asks(item: ComparedTest, wanted: frozenset[str]) -> bool:
    strong = (check.values for check in item.checks if check.strength is Strength.WHOLE)
    return any(wanted <= values for values in strong)
