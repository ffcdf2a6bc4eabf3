"""Signatures and examples that a specification states."""

from __future__ import annotations

import ast
import builtins
import contextlib
import doctest
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from greenloop.records import GivenExample
from greenloop.syntax.parse import parse_or_none

# Bounded repetitions keep matching linear on long, adversarial texts.
_FENCE = re.compile(r"[ \t]*```[ \t]*(\w*)")
_SIGNATURE = re.compile(
    r"(?:\basync[ \t]{1,9})?\bdef[ \t]{1,9}\w{1,99}[ \t]{0,9}\([^`]{0,999}?\)"
    r"(?:\s{0,99}->[^`:\n]{1,200})?(?=\s{0,99}(?:[:`\n]|$))"
)
_ARROW = re.compile(
    r"[\s*•>-]*(?:\d{1,9}[.)]\s+)?`?(?P<call>[A-Za-z_]\w*\(.*\))`?\s*"
    r"(?:(?P<arrow>->|→|=>|⇒|==|returns\b|gives\b|yields\b)(?P<value>.*)"
    r"|raises?\s+(?:an?\s+)?`?(?P<error>\w+)`?(?P<rest>.*))$"
)
_MAX_LINE_CHARS = 2000
_PARSE_ERRORS = (SyntaxError, ValueError, TypeError, MemoryError, RecursionError)


@dataclass(frozen=True)
class Specification:
    """A specification's text, with the signatures (as stub source) and examples that it states."""

    text: str
    signatures: str
    examples: tuple[GivenExample, ...]


@lru_cache(maxsize=16)  # the module's name, the prompt and the contract are all made from it
def analyze_specification(specification: str) -> Specification:
    """Extract what a text states in Python: signatures, doctests, and lines like `f(1) -> 2`."""
    text = specification.replace("\r\n", "\n")
    sources = list(_find_python_sources(text))
    signatures = "\n\n".join(
        dict.fromkeys(item for part in sources for item in _extract_stubs(part))
    )
    if not signatures:
        signatures = "\n\n".join(dict.fromkeys(_find_loose_signatures(text)))
    examples = [
        *_extract_doctests(text),
        *(item for line in text.split("\n") for item in _parse_arrow_example(line)),
    ]
    return Specification(specification, signatures, tuple(dict.fromkeys(examples)))


def filter_usable_examples(
    examples: tuple[GivenExample, ...], names: frozenset[str]
) -> tuple[GivenExample, ...]:
    """Return the examples that use only an interface's names and what they define themselves."""
    return tuple(item for item in examples if _find_free_names(item) <= names)


def _find_python_sources(text: str) -> Iterator[str]:
    if _is_parsable(text) and re.search(r"^[ \t]*(async def|def|class) ", text, re.MULTILINE):
        yield text
        return
    for language, block in _find_code_blocks(text):
        if language in ("python", "py", "python3", "") and _is_parsable(block):
            yield block


def _find_code_blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the language of each fenced block and its text without common indentation."""
    language: str | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if language is None:
            language, lines = (fence[1].lower() if fence else None), []
        elif line.strip() == "```":
            yield language, textwrap.dedent("\n".join(lines)) + "\n"
            language = None
        else:
            lines.append(line)


def _is_parsable(source: str) -> bool:
    tree = parse_or_none(source)
    return tree is not None and bool(tree.body)


def _extract_stubs(source: str) -> Iterator[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in ast.parse(source).body:
        if isinstance(node, kinds) and not node.name.lower().startswith("test"):
            _remove_bodies(node)
            yield ast.unparse(node)


def _remove_bodies(node: ast.AST) -> None:
    for item in ast.walk(node):
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            head = item.body[:1] if ast.get_docstring(item) is not None else []
            item.body = [*head, ast.Expr(ast.Constant(...))]


def _find_loose_signatures(text: str) -> Iterator[str]:
    """Yield stubs for signatures without a body (`def f(x: int) -> int`) in prose or backticks."""
    for found in _SIGNATURE.finditer(text):
        candidate = " ".join(found[0].split()).rstrip(":") + ": ..."
        if _is_parsable(candidate):
            yield candidate


def _extract_doctests(text: str) -> Iterator[GivenExample]:
    """Yield an example each; all of them as one where some have no output, so state is built up."""
    plain = re.sub(r"^[ \t]*(```.*|[rR]?\"\"\"|''')[ \t]*$", "", text, flags=re.MULTILINE)
    plain = re.sub(r"^([ \t]*)[rR]?(\"\"\"|''')(?=>>>)", r"\1", plain, flags=re.MULTILINE)
    plain = re.sub(r"(\"\"\"|''')[ \t]*$", "\n", plain, flags=re.MULTILINE)
    try:
        examples = doctest.DocTestParser().get_examples(plain)
    except ValueError:
        return
    rendered = [_render_doctest(item) for item in examples]
    if any(not item.want for item in examples):
        yield from (
            [GivenExample(doctest="".join(rendered))] if any(e.want for e in examples) else []
        )
    else:
        yield from (GivenExample(doctest=item) for item in rendered)


def _render_doctest(example: doctest.Example) -> str:
    lines = example.source.rstrip("\n").split("\n")
    shown = [f">>> {lines[0]}", *(f"... {line}" for line in lines[1:])]
    return "\n".join(shown) + "\n" + example.want


def _parse_arrow_example(line: str) -> Iterator[GivenExample]:
    found = _ARROW.match(line) if len(line) <= _MAX_LINE_CHARS else None
    if found is None or line.lstrip().startswith(">>>") or not _is_literal_call(found["call"]):
        return
    call = found["call"]
    if found["error"]:
        rest = found["rest"].strip(" \t`.;,")
        known = getattr(builtins, found["error"], None)
        if isinstance(known, type) and issubclass(known, BaseException) and rest[:1] in ("", "#"):
            yield GivenExample(doctest=_render_exception_doctest(call, found["error"]))
        return
    for text in (found["value"], found["value"].partition("#")[0].strip(" \t`.;,")):
        with contextlib.suppress(*_PARSE_ERRORS):
            value = ast.literal_eval(text.strip())
            is_annotation = value is None and found["arrow"] == "->" and call.endswith("()")
            if not is_annotation and "Ellipsis" not in repr(value):
                yield GivenExample(doctest=_render_equality_doctest(call, value))
            return


def _render_exception_doctest(call: str, error: str) -> str:
    """Render with `except`, which accepts subclasses; a traceback would fix the class's name."""
    lines = (f">>> try:\n...     {call}\n", f"... except {error}:\n...     print({error!r})\n")
    return "".join(lines) + f"{error}\n"


def _render_equality_doctest(call: str, value: object) -> str:
    return f">>> {call} is None\nTrue\n" if value is None else f">>> {call}\n{value!r}\n"


def _is_literal_call(text: str) -> bool:
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return False
        for argument in [*call.args, *(item.value for item in call.keywords)]:
            ast.literal_eval(argument)
    except _PARSE_ERRORS:
        return False
    return True


def _find_free_names(example: GivenExample) -> frozenset[str]:
    used: set[str] = set()
    bound: set[str] = set(dir(builtins))
    for part in doctest.DocTestParser().get_examples(example.doctest):
        tree = parse_or_none(part.source)
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.Name):
                (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                bound |= {(item.asname or item.name).split(".")[0] for item in node.names}
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                bound.add(node.name)
            elif isinstance(node, ast.arg):
                bound.add(node.arg)
    return frozenset(used - bound)
