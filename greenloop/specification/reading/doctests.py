"""Examples in doctest form: those of a text, and those made of a call and its outcome."""

import ast
import doctest
import re
import sys
from collections.abc import Iterator
from itertools import takewhile

from greenloop.records import GivenExample
from greenloop.specification.reading.expressions import find_free_names
from greenloop.specification.reading.outcomes import Outcome
from greenloop.syntax.nodes import bound_names
from greenloop.syntax.parse import parse_or_empty, read_literal

_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_SHOWN_ADDRESS = re.compile(r"<.*\b0x[0-9a-f]+", re.IGNORECASE)  # differs in each process


def parse_doctest(text: str) -> list[doctest.Example]:
    """Return the parts of a doctest. Raises ValueError where it is malformed."""
    return doctest.DocTestParser().get_examples(text)


def extract_doctests(text: str) -> Iterator[GivenExample]:
    """Yield each doctest as an example; a whole session as one where its parts are dependent.

    They are where some have no output, or where one call has two results. A fence begins a new
    session, unless the doctests after it use names of the session before.
    """
    sessions: list[list[doctest.Example]] = []
    for block in _FENCE.split(text):
        plain = re.sub(r"^[ \t]*([rR]?\"\"\"|''')[ \t]*$", "", block, flags=re.MULTILINE)
        plain = re.sub(r"^([ \t]*)[rR]?(\"\"\"|''')(?=>>>)", r"\1", plain, flags=re.MULTILINE)
        plain = re.sub(r"(\"\"\"|''')[ \t]*$", "\n", plain, flags=re.MULTILINE)
        try:
            parts = [i for i in parse_doctest(plain) if not _SHOWN_ADDRESS.match(i.want)]
        except ValueError:
            continue
        if sessions and _needs(parts, sessions[-1]):
            sessions[-1] += parts
        elif parts:
            sessions.append(parts)
    found = (example for parts in sessions for example in _read_session(parts))
    yield from dict.fromkeys(found)


def _needs(parts: list[doctest.Example], before: list[doctest.Example]) -> bool:
    """Return whether parts use names that those before them define."""
    used, defined = ("".join(item.source for item in items) for items in (parts, before))
    return not find_free_names(used).isdisjoint(bound_names(ast.walk(parse_or_empty(defined))))


def _read_session(parts: list[doctest.Example]) -> Iterator[GivenExample]:
    for item in parts:
        item.want = item.want or ("True\n" if _is_comparison(item.source) else "")
    results = {(item.source, item.want) for item in parts}
    if any(not item.want for item in parts) or len({source for source, _ in results}) < len(
        results
    ):
        exact = list(takewhile(_is_exact, parts))  # what follows may depend on what is left out
        if any(item.want for item in exact):
            yield GivenExample(doctest="".join(render_part(i.source, i.want) for i in exact))
    else:
        for item in filter(_is_exact, parts):
            yield GivenExample(doctest=render_part(item.source, item.want))


def _is_exact(part: doctest.Example) -> bool:
    """Return whether a part is run, and shows its whole result; of errors only the type counts."""
    flags = {flag for flag, is_on in part.options.items() if is_on}
    if part.exc_msg is not None:
        return doctest.SKIP not in flags
    has_gap = part.want.startswith("<") and "..." in part.want
    shown = ast.walk(parse_or_empty(part.want))
    has_gap |= any(isinstance(node, ast.Constant) and node.value is ... for node in shown)
    return not has_gap and flags <= {doctest.IGNORE_EXCEPTION_DETAIL}


def _is_comparison(source: str) -> bool:
    """Return whether a line compares a call by `==` or `is`, so that it needs no output."""
    body = parse_or_empty(source).body
    value = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    return (
        isinstance(value, ast.Compare)
        and isinstance(value.left, ast.Call)
        and all(isinstance(item, ast.Eq | ast.Is) for item in value.ops)
    )


def render_part(source: str, want: str = "") -> str:
    """Return a statement with what it shows in doctest form."""
    lines = source.rstrip("\n").split("\n")
    shown = [f">>> {lines[0]}", *(f"... {line}" for line in lines[1:])]
    return "\n".join(shown) + "\n" + want


def render_outcome(call: str, outcome: Outcome) -> str:
    """Return a call and its outcome in doctest form."""
    if outcome.is_error:
        return render_part(call, f"Traceback (most recent call last):\n    ...\n{outcome.source}\n")
    if outcome.source == "None":
        return render_part(f"{call} is None", "True\n")
    if not read_literal(outcome.source):  # `Decimal("1.5")`: its repr is not known
        return render_part(f"{call} == {outcome.source}", "True\n")
    return render_part(call, f"{outcome.source}\n")


def get_error_name(part: doctest.Example) -> str:
    """Return the exception that a part of a doctest ends with, '' where it ends with none.

    The name includes its module only if that is in the standard library.
    """
    name = re.split(r"[:\s]", part.exc_msg)[0] if part.exc_msg else ""
    is_standard = name.partition(".")[0] in sys.stdlib_module_names
    return name if is_standard else name.rpartition(".")[2]


def find_undefined_names(example: GivenExample) -> frozenset[str]:
    """Return the names that an example neither defines nor has as builtins."""
    parts = parse_doctest(example.doctest)
    errors = [name for item in parts if "." not in (name := get_error_name(item))]
    return find_free_names("".join([*(i.source for i in parts), *(f"{n}\n" for n in errors)]))
