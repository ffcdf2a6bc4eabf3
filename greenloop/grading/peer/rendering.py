"""Rendering of encoded answers and of tests' programs as Python source, for a judge."""

import ast
from typing import Any

from greenloop.grading.inputs.programs import find_observation
from greenloop.grading.inputs.slots import is_observation
from greenloop.specification.choices import MAX_ANSWER_CHARS
from greenloop.syntax.nodes import copy_tree

_MAX_TEXT = MAX_ANSWER_CHARS  # an open choice offers it as an example
_MAX_LITERAL, _MAX_MESSAGE = 1000, 120
_BRACKETS = {"list": "[]", "tuple": "()", "set": "{}"}
_OF_TEXT = ("Decimal", "Fraction")
_OF_NUMBERS = ("date", "datetime", "time", "timedelta")


class _NotPlainError(Exception):
    """A value that has no literal."""


def describe(observation: dict[str, Any]) -> str:
    """Return what a call returned or raised in at most 2,000 characters."""
    try:
        if "error" in observation:
            _, bases, text, *_ = observation["error"]
            message = f"{bases[0][1]}({str(text)[:_MAX_MESSAGE]!r})"
            return f"raises {message}"[:_MAX_TEXT]
        text = _render(observation["value"], False)
    except (LookupError, TypeError, ValueError, RecursionError):
        return "an answer that cannot be shown"
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 2]} …"


def describe_exception(observation: dict[str, Any]) -> str:
    """Return the exception that statements raised, if nothing else of them was observed."""
    return describe(observation) if "error" in observation else "no exception"


def observes_exception(program: ast.AST, number: int) -> bool:
    """Return whether an observation of a program is the exception of a block, not a value."""
    call = find_observation(program, number)
    return call is not None and call.func.id == "raising__"


def read_items(observation: dict[str, Any]) -> dict[str, Any] | None:
    """Return an iterator's items as a list, and an exception as it is; None for other answers."""
    match observation:
        case {"value": ["tuple", "iterator", ["list", *_] as items]}:
            return {"value": items}
    return observation if "error" in observation else None


def to_literal(observation: dict[str, Any]) -> str | None:
    """Return the source of a plain value; None for others, for long ones and for exceptions."""
    try:
        text = _render(observation["value"], True)
    except (_NotPlainError, LookupError, TypeError, ValueError, RecursionError):
        return None
    return text if len(text) <= _MAX_LITERAL else None


def _render(value: Any, must_be_plain: bool) -> str:
    if not isinstance(value, list):
        return repr(value)
    tag, *parts = value
    if tag == "int":
        return repr(int(parts[0], 16))
    if tag == "float":
        text = repr(float.fromhex(parts[0]))
        if must_be_plain and text.strip("-") in ("inf", "nan"):
            raise _NotPlainError
        return text
    if tag == "bytes":
        return repr(bytes.fromhex(parts[0]))
    if tag == "tuple" and parts[:1] in (
        ["iterator"],
        ["async iterator"],
    ):  # no value equals an iterator
        if must_be_plain:
            raise _NotPlainError
        return f"{parts[0]} of {_render(parts[1], False)}"
    if tag in _BRACKETS and (parts or tag != "set"):
        inner = ", ".join(_render(item, must_be_plain) for item in parts)
        return f"{_BRACKETS[tag][0]}{inner}{',' * (tag == 'tuple' and len(parts) == 1)}{_BRACKETS[tag][1]}"
    if tag == "dict":
        return f"{{{', '.join(_render_pair(item, must_be_plain) for item in parts)}}}"
    if tag in _OF_TEXT:
        return f"{tag}({parts[0]!r})"
    if tag in _OF_NUMBERS:
        return f"{tag}({_render_parts(tag, parts, must_be_plain)})"
    if tag == "timezone":
        offset = _render(parts[0], must_be_plain)
        return "timezone.utc" if offset == "timedelta(0)" else f"timezone({offset})"
    if must_be_plain:
        raise _NotPlainError
    return _describe_other(tag, parts)


def _render_parts(tag: str, parts: list[Any], must_be_plain: bool) -> str:
    """Return the arguments of a date or a time, without those at the end that are the defaults."""
    *numbers, last = parts
    zone = ""
    if tag in ("datetime", "time"):
        zone = "" if last is None else f", tzinfo={_render(last, must_be_plain)}"
    else:
        numbers.append(last)
    needed = {"date": 3, "datetime": 5}.get(tag, 1)
    while len(numbers) > needed and numbers[-1] == 0:
        numbers.pop()
    return ", ".join(map(str, numbers)) + zone


def _render_pair(pair: list[Any], must_be_plain: bool) -> str:
    _, key, value = pair
    return f"{_render(key, must_be_plain)}: {_render(value, must_be_plain)}"


def _describe_other(tag: str, parts: list[Any]) -> str:
    if tag == "subclass":
        return f"{parts[0][0][1]}({_render(parts[2], False)})"
    if tag == "enum":
        return f"{parts[0][0][1]}.{parts[2]}"
    if tag in ("class", "exception"):
        return f"{tag} {parts[0][0][1]}"
    if tag == "object":
        inner = ", ".join(f"{key}={_render(item, False)}" for key, item in parts[2].items())
        return f"{parts[0][0][1]}({inner})"
    return f"{tag}({', '.join(_render(item, False) for item in parts)})"


def render_statements(function: ast.AST, last: int) -> str:
    """Return the body of a program as plain statements, up to the observation `last`."""
    found: list[str] = []
    body = getattr(function, "body", [])
    for node in body[0].body if len(body) == 1 and isinstance(body[0], ast.Try) else body:
        made = _WithoutObservations().visit(copy_tree(node))
        found += map(ast.unparse, made if isinstance(made, list) else [made])
        if find_observation(node, last):
            break
    return "\n".join(found)


class _WithoutObservations(ast.NodeTransformer):
    def visit_With(self, node: ast.With) -> Any:
        self.generic_visit(node)
        is_raising = ast.unparse(node.items[0]).startswith("raising__(")
        return node.body if is_raising else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not is_observation(node):
            return node
        match node.func, node.args:
            case ast.Name(id="operate__"), [ast.Constant(value=name), left, right]:
                return ast.BinOp(left, getattr(ast, str(name))(), right)
            case ast.Name(id="attempt__"), [_, ast.Lambda(body=body)]:
                return body
            case ast.Name(id="see__"), [_, value]:
                return value
        return node
