"""Answers to open choices of a specification: example calls with their results, as text."""

import ast
import builtins
import re
from collections.abc import Collection, Iterable, Iterator

from greenloop.records import Choice, GivenExample, HeldOutExample
from greenloop.specification.reading.doctests import parse_doctest
from greenloop.specification.reading.expressions import is_closed
from greenloop.syntax.parse import parse_or_empty
from greenloop.syntax.values import find_value_imports, is_plain_value

# Room for a call of a second implementation and its result: truncated, they are no example.
MAX_ANSWER_CHARS = 2000
_RESULT = re.compile(r"->|→|=>|==|\breturns\b|\braises?\b")
_RAISED = re.compile(r"raises? [A-Za-z_][\w.]*")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_LITERAL_OR_BLANKS = re.compile(r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|\s+")


def to_one_line(text: str, limit: int = MAX_ANSWER_CHARS) -> str:
    """Return a text in one line without control characters: it cannot look like another entry.

    Blanks are kept in the literals of an example, and collapsed elsewhere.
    """
    shown = ("".join(c if c.isprintable() else " " for c in line) for line in text.splitlines())
    lines = (_LITERAL_OR_BLANKS.sub(lambda found: found[1] or " ", line).strip() for line in shown)
    flat = "; ".join(filter(None, lines))
    return flat.lstrip("#> ").removeprefix("- ")[:limit]


def parse_answer(text: str) -> HeldOutExample | None:
    """Parse `f(1) -> 2` or `f(-1) raises ValueError`; None where it is no call with a result.

    The call may also be statements that end in an expression.
    """
    for call, sign, result in _split_answer(text):
        if not _is_expression(call):
            continue
        if sign.startswith("raise"):
            return HeldOutExample(call=call, raises=result) if _NAME.fullmatch(result) else None
        return HeldOutExample(call=call, returns=result) if is_plain_value(result) else None
    return None


def parse_object_answer(text: str, classes: Collection[str]) -> HeldOutExample | None:
    """Parse `f(1) -> Point(2)` as a comparison that is true; None where it is no such example.

    `classes` are the module's classes whose instances compare by their fields.
    """
    for call, _, result in _split_answer(text):
        if is_closed(call) and is_closed(result):
            nodes = list(ast.walk(ast.parse(result, mode="eval")))
            made = {ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)}
            own = made.intersection(classes)
            if own and made - own <= find_value_imports(result).keys():
                return HeldOutExample(call=f"({call}) == {result}", returns="True")
    return None


def _split_answer(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield call, sign and result for each sign in a text; nothing for a text that is too long."""
    text = text.replace("`", "").strip()
    for found in _RESULT.finditer(text) if len(text) <= MAX_ANSWER_CHARS else ():
        yield text[: found.start()].strip(), found[0], text[found.end() :].strip()


def complete_answer(choice: Choice, text: str) -> str | None:
    """Return a user's own answer as an example, or None where no result can be read in it.

    A value or an exception alone is taken as the result of the call in the offered answers. If the
    offered answers are no examples, any text is an answer.
    """
    text = to_one_line(text)
    offered = [example for item in choice.answers if (example := parse_answer(item))]
    if not offered or not text or parse_answer(text):
        return text or None
    call, kind = offered[0].call, re.sub(r"^(raises?|an?)\s+", "", text)
    if is_plain_value(text):
        return f"{call} -> {text}"
    known = getattr(builtins, kind, None)
    is_exception = isinstance(known, type) and issubclass(known, BaseException)
    is_named = kind != text and _NAME.fullmatch(kind)
    return f"{call} raises {kind}" if is_exception or is_named else None


def complete_results(choice: Choice) -> Choice:
    """Return a choice in which answers that are only a result get the call of the others."""
    whole = {item: item for item in choice.answers}
    for item in choice.answers:
        if is_plain_value(item) or _RAISED.fullmatch(item):
            whole[item] = complete_answer(choice, item) or item
    answers = tuple(dict.fromkeys(whole.values()))
    return choice.model_copy(update={"answers": answers, "chosen": whole[choice.chosen]})


def drop_settled(choices: Iterable[Choice], examples: Iterable[GivenExample]) -> tuple[Choice, ...]:
    """Return the choices without those whose call occurs in an example of the text."""
    shown = {
        call
        for item in examples
        for part in parse_doctest(item.doctest)
        for call in _find_calls(part.source)
    }
    return tuple(item for item in choices if shown.isdisjoint(_list_calls(item)))


def _list_calls(choice: Choice) -> list[str]:
    """Return the outermost call of each answer, in normalized form."""
    parsed = (parse_answer(item) for item in choice.answers)
    return [_find_calls(item.call)[0] for item in parsed if item]


def _find_calls(source: str) -> list[str]:
    """Return the normalized calls of a text, outer ones first; [] where it is no Python."""
    nodes = ast.walk(parse_or_empty(source))
    return [ast.unparse(node) for node in nodes if isinstance(node, ast.Call)]


def _is_expression(source: str) -> bool:
    """Return whether a text has a call and is an expression, or statements that end in one."""
    body = parse_or_empty(source).body
    return bool(_find_calls(source)) and isinstance(body[-1], ast.Expr)
