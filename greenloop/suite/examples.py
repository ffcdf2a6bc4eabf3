"""Signatures and examples that stand in a specification: taken over, not invented again."""

from __future__ import annotations

import ast
import builtins
import doctest
import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.records import GivenExample

_BLOCK = re.compile(
    r"^[ \t]*```[ \t]*(\w*)[^\n]*\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL
)
_DEF = re.compile(
    r"(?:async\s+)?def\s+\w+\s*\([^`]*?\)(?:\s*->\s*[^`:\n]+(?:\[[^`\n]*\])?)?(?=\s*[:`\n]|$)"
)
_ARROW = re.compile(
    r"^[\s*•>-]*(?:\d+[.)]\s+)?`?(?P<call>[A-Za-z_][\w.]*\(.*\))`?\s*"
    r"(?:(?:->|→|=>|⇒|==|returns|gives|yields)\s*`?(?P<value>.+?)`?|raises?\s+(?:an?\s+)?`?(?P<error>\w+)`?)"
    r"\s*[.;,]?\s*(?:#.*)?$"
)


@dataclass(frozen=True)
class Given:
    """What a specification fixes by itself: stub source of signatures, and examples."""

    signatures: str
    examples: tuple[GivenExample, ...]

    @property
    def names(self) -> frozenset[str]:
        """Top-level names that the signatures define."""
        tree = ast.parse(self.signatures)
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return frozenset(node.name for node in tree.body if isinstance(node, kinds))


def given_in(specification: str) -> Given:
    """Everything that a specification fixes in Python: signatures, doctests, `f(1) -> 2`."""
    text = specification.replace("\r\n", "\n")
    sources = list(_python_parts(text))
    signatures = "\n\n".join(dict.fromkeys(item for part in sources for item in _stubs(part)))
    if not signatures:
        signatures = "\n\n".join(dict.fromkeys(_loose_signatures(text)))
    examples = [*_doctests(text), *(item for line in text.split("\n") for item in _arrow(line))]
    return Given(signatures, tuple(dict.fromkeys(examples)))


def usable_examples(
    examples: tuple[GivenExample, ...], names: frozenset[str]
) -> tuple[GivenExample, ...]:
    """The examples that speak of an interface's names only (or of what they define themselves)."""
    return tuple(item for item in examples if _free_names(item) <= names)


def _python_parts(text: str) -> Iterator[str]:
    if _parsed(text) and re.search(r"^\s*(async def|def|class) ", text, re.MULTILINE):
        yield text
        return
    for found in _BLOCK.finditer(text):
        if found[1].lower() in ("python", "py", "python3", "") and _parsed(found[2]):
            yield found[2]


def _parsed(source: str) -> bool:
    try:
        return bool(ast.parse(source).body)
    except (SyntaxError, ValueError):
        return False


def _stubs(source: str) -> Iterator[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in ast.parse(source).body:
        if isinstance(node, kinds) and not node.name.startswith("test"):
            _empty_bodies(node)
            yield ast.unparse(node)


def _empty_bodies(node: ast.AST) -> None:
    for item in ast.walk(node):
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            head = item.body[:1] if ast.get_docstring(item) is not None else []
            item.body = [*head, ast.Expr(ast.Constant(...))]


def _loose_signatures(text: str) -> Iterator[str]:
    """`def f(x: int) -> int` without a body, in prose or between backticks."""
    for found in _DEF.finditer(text):
        candidate = " ".join(found[0].split()).rstrip(":") + ": ..."
        if _parsed(candidate):
            yield candidate


def _doctests(text: str) -> Iterator[GivenExample]:
    """One for each example; all of a specification as one where they build on each other."""
    plain = re.sub(r"^[ \t]*(```.*|[rR]?\"\"\"|''')[ \t]*$", "", text, flags=re.MULTILINE)
    plain = re.sub(r"(\"\"\"|''')[ \t]*$", "", plain, flags=re.MULTILINE)
    try:
        examples = doctest.DocTestParser().get_examples(plain)
    except ValueError:
        return
    rendered = [_rendered(item) for item in examples]
    if any(not item.want for item in examples):
        yield from (
            [GivenExample(doctest="".join(rendered))] if any(e.want for e in examples) else []
        )
    else:
        yield from (GivenExample(doctest=item) for item in rendered)


def _rendered(example: doctest.Example) -> str:
    lines = example.source.rstrip("\n").split("\n")
    shown = [f">>> {lines[0]}", *(f"... {line}" for line in lines[1:])]
    return "\n".join(shown) + "\n" + example.want


def _arrow(line: str) -> Iterator[GivenExample]:
    found = _ARROW.match(line)
    if (
        found is None
        or line.lstrip().startswith((">>>", "def "))
        or not _literal_call(found["call"])
    ):
        return
    if found["error"]:
        if isinstance(getattr(builtins, found["error"], None), type):
            head = "Traceback (most recent call last):\n    ...\n"
            yield GivenExample(doctest=f">>> {found['call']}\n{head}{found['error']}\n")
        return
    try:
        value = ast.literal_eval(found["value"])
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return
    yield GivenExample(doctest=_equality(found["call"], value))


def _equality(call: str, value: object) -> str:
    """By representation, so that a failure shows what came; sets and dicts by equality."""
    text = repr(value)
    if value is None or "{" in text or "\n" in text:
        return (
            f">>> {call} == {text}\nTrue\n" if value is not None else f">>> {call} is None\nTrue\n"
        )
    return f">>> {call}\n{text}\n"


def _literal_call(text: str) -> bool:
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return False
        for argument in [*call.args, *(item.value for item in call.keywords)]:
            ast.literal_eval(argument)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True


def _free_names(example: GivenExample) -> frozenset[str]:
    used: set[str] = set()
    bound: set[str] = set(dir(builtins))
    for part in doctest.DocTestParser().get_examples(example.doctest):
        for node in ast.walk(_parse_or_empty(part.source)):
            if isinstance(node, ast.Name):
                (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                bound |= {(item.asname or item.name).split(".")[0] for item in node.names}
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                bound.add(node.name)
            elif isinstance(node, ast.arg):
                bound.add(node.arg)
    return frozenset(used - bound)


def _parse_or_empty(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError:
        return ast.Module(body=[], type_ignores=[])


def example_tests(module: str, examples: tuple[GivenExample, ...]) -> str:
    """Tests that check the examples with doctest, one a test; '' where there are none."""
    if not examples:
        return ""
    tests = [_example_test(number, item) for number, item in enumerate(examples, 1)]
    return "\n\n\n".join([_CHECK.replace("MODULE", module).strip("\n"), *tests]) + "\n"


def _example_test(number: int, example: GivenExample) -> str:
    text = "\n".join(f"        {line!r}" for line in example.doctest.splitlines(keepends=True))
    return (
        f"def test_specification_example_{number}():\n"
        f'    """An example of the specification, as it stands there."""\n'
        f"    _check_specification_example(\n{text}\n    )"
    )


_CHECK = """
# Examples that stand in the specification, taken over as they are.
def _check_specification_example(text):
    import doctest

    import MODULE

    flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    names = dict(vars(MODULE))
    example = doctest.DocTestParser().get_doctest(text, names, "specification", None, 0)
    wrong = []
    doctest.DocTestRunner(verbose=False, optionflags=flags).run(example, out=wrong.append)
    assert not wrong, "".join(wrong)
"""
