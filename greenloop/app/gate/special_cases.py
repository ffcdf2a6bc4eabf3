"""Detection of new branches for single example values of tests, in place of a general rule."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from greenloop.grading.memorization.special_cases import find_comparisons
from greenloop.project.diff import ProjectDiff
from greenloop.project.weakening.conditions.strength import Strength
from greenloop.project.weakening.doctests import are_examples_run, read_all
from greenloop.project.weakening.names import list_names, list_values
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_empty, read_literal
from greenloop.syntax.source import LINE_END
from greenloop.testsuite.parser import is_test_path

_ASKING = re.compile(
    r"PYTEST_(CURRENT_TEST|VERSION)|['\"](pytest|unittest)['\"] (not )?in sys\.modules"
)
_KEYWORD = re.compile(
    r"(?!'(?=.*[1-9])[\d.:/-]{9,}')b?'[\w.:/-]*'|-?[0-2](\.\d*)?|True|False|None|[(\[{][^,]*,?[)\]}]"
)
_WORDS = re.compile(r"\w+[^\w.:/-]+\w+")
_MAX_ENTRIES = 2
_MIN_INPUT = 9  # characters of a text that counts as an input; a token as `<script>` has fewer


def find_special_cases(diff: ProjectDiff, said: Sequence[str]) -> Iterator[str]:
    """Yield a line for each new branch for one value that a test uses as an example.

    The branch returns the constant that the test expects, or is for a text that the test passes as
    an input. Values in a line of `said`, and values that are one of several, are left out.
    """
    texts, are_run = diff.tree.texts, are_examples_run(diff.tree.project.all_files)
    tests = {p: t for p, t in texts.items() if is_test_path(p) or (are_run and ">>>" in t)}
    for path in (path for path in diff.lines if not is_test_path(path)):
        lines, code = diff.lines[path], diff.tree.texts[path]
        for line, text in enumerate(LINE_END.split(code), 1):
            if line in lines and _ASKING.search(text):
                yield f"{path}:{line} asks whether a test runs it: do the same for every caller"
        for line, value, answer in _find_answers(code):
            is_named = any(str(value) in text for text in said)
            if line in lines and not is_named and (test := _find_asking(tests, value, answer)):
                yield (
                    f"{path}:{line} has a branch for {value!r} alone, which {test} expects: write the "
                    "general rule; if this value is a rule of its own, say so in a document"
                )


def _find_answers(code: str) -> Iterator[tuple[int, object, object]]:
    """Yield (line, value, constant) of `if x == value: return constant` and of tables.

    Of a branch for an input without a constant, the value takes the constant's place. Tables outside
    of functions are often data, so only those with at most two entries are read.
    """
    tree = parse_or_empty(code)
    functions = (item for item in ast.walk(tree) if isinstance(item, Function))
    found = [item for function in functions for item in _read_function(function)]
    values = [i.value for i in tree.body if isinstance(i, (ast.Assign, ast.AnnAssign))]
    tables = (i for i in values if isinstance(i, ast.Dict) and len(i.keys) <= _MAX_ENTRIES)
    for line, value, answer in (*found, *(item for table in tables for item in _read_table(table))):
        if not _KEYWORD.fullmatch(repr(value)) and not _is_code_of(value, answer):
            yield line, value, answer


def _read_function(function: Function) -> Iterator[tuple[int, object, object]]:
    alone = [item for item in find_comparisons(function) if item.is_alone and item.stub == "False"]
    for node in ast.walk(function):
        if isinstance(node, (ast.If, ast.IfExp)):
            inside, constants = {*ast.walk(node.test)}, _list_constants(node)
            for item in (item for item in alone if item.node in inside):
                for value in read_literal(item.literal):
                    own = [value] if _is_input(value, item.node, function) else []
                    yield from ((node.lineno, value, i) for i in (constants or own)[:1])
        elif isinstance(node, ast.Dict):
            yield from _read_table(node)


def _read_table(node: ast.Dict) -> Iterator[tuple[int, object, object]]:
    for key, given in zip(node.keys, node.values, strict=True):
        both = (*read_literal(key), *read_literal(given)) if key else ()
        if len(both) == 2:
            yield (given.lineno, *both)


def _is_input(value: object, comparison: ast.expr, function: Function) -> bool:
    """Return whether a value is a whole input text, and no token or name of a format."""
    if not isinstance(value, str):
        return False
    given = {item.arg for item in (*function.args.args, *function.args.kwonlyargs)}
    is_given = not given.isdisjoint(list_names(comparison))
    return bool(_WORDS.search(value)) or (is_given and len(value) >= _MIN_INPUT)


def _is_code_of(value: object, answer: object) -> bool:
    """Return whether a number is a code for a text, such as 404 for "Not Found"."""
    return isinstance(value, int) and isinstance(answer, str)


def _list_constants(node: ast.If | ast.IfExp) -> list[object]:
    """Return the constant of a branch that only returns or assigns it, as a list of at most one."""
    match node:
        case ast.IfExp(body=given) | ast.If(body=[ast.Return(value=ast.expr() as given)]):
            found = read_literal(given)
        case ast.If(body=[ast.Assign(value=given)]):
            found = read_literal(given)
        case _:
            found = ()
    return [item for item in found if not isinstance(item, bool) and item not in (None, "", 0)]


def _find_asking(tests: Mapping[str, str], value: object, answer: object) -> str:
    """Return a test that expects this answer for this value, '' if there is none."""
    wanted = list_values(ast.parse(repr([value, answer])))
    named = {
        path: text
        for path, text in tests.items()
        if (">>>" in text and str(value) in text) or wanted <= list_values(parse_or_empty(text))
    }
    return next(
        (
            item.test
            for item in read_all(named).values()
            for check in item.checks
            if check.strength is Strength.WHOLE and wanted <= check.values
        ),
        "",
    )
