"""Lenient JSON parser: comments, trailing commas, Python literals, bare keys, stray escapes."""

import ast
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from greenloop.llm.parsing.errors import InvalidResponse

_MAX_STARTS = 50  # brackets at which a bare value may begin; each is read once
_SHOWN_CHARS = 30
_TOKEN = re.compile(
    r"""(?P<string>[rbu]?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))
      | (?P<comment>//[^\n]*|/\*.*?\*/|\#[^\n]*)
      | (?P<name>[A-Za-z_$][\w$]*)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_JSON_FORMS = {"(": "[", ")": "]", "\xa0": " "}
_CONSTANTS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
_BAD_ESCAPE = re.compile(r"\\(?:(?P<good>[\"\\/bfnrt]|u[0-9a-fA-F]{4})|(?P<other>.))", re.DOTALL)


def read_json(text: str) -> Any:
    """Return the value of a text that is JSON, or that can be corrected to JSON.

    Raises InvalidResponse: it is neither; the message names the place of the first error.
    """
    try:
        return json.loads(text, strict=False)
    except ValueError as error:
        first = error
    with suppress(ValueError):
        return json.loads(_mend(text), strict=False)
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return _to_plain(ast.literal_eval(text.strip()))
    place = ""
    if isinstance(first, json.JSONDecodeError):
        before, after = text[: first.pos][-_SHOWN_CHARS:], text[first.pos :][:_SHOWN_CHARS]
        shown = " ".join(f"{before}⟨here⟩{after}".split())
        place = f" in line {first.lineno}: {first.msg}, at `{shown}`"
    raise InvalidResponse(f"The JSON is not valid{place}.")


def iterate_values(value: Any) -> Iterator[Any]:
    """Yield a value, then the objects within it: a model may wrap its answer in another object."""
    yield value
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in held:
        yield from (inner for inner in iterate_values(item) if isinstance(inner, dict))


def find_bare_values(text: str) -> Iterator[str]:
    """Yield the outermost bracketed parts of a text, the last one first."""
    spans: list[tuple[int, int]] = []
    at = 0
    for _ in range(_MAX_STARTS):
        start = next((n for n in range(at, len(text)) if text[n] in "{["), None)
        if start is None:
            break
        end = _find_end(text, start)
        if end:
            spans.append((start, end))
        at = end or start + 1
    yield from (text[start:end] for start, end in reversed(spans))


def _find_end(text: str, start: int) -> int:
    """Return the offset after the bracket that closes the one at `start`; 0 without one."""
    depth = 0
    for found in _TOKEN.finditer(text, start):
        if found["other"] in ("{", "["):
            depth += 1
        elif found["other"] in ("}", "]"):
            depth -= 1
            if depth == 0:
                return found.end()
    return 0


def _mend(text: str) -> str:
    """Rewrite the notations of JavaScript and Python in a text as JSON."""
    tokens = [found for found in _TOKEN.finditer(text) if not found["comment"]]
    parts = []
    for number, found in enumerate(tokens):
        if found["string"]:
            parts.append(_mend_string(found[0]))
        elif found["name"]:
            is_key = _find_next(tokens, number) == ":"
            known = _CONSTANTS.get(found[0], found[0])
            parts.append(f'"{found[0]}"' if is_key else known)
        elif found[0] != "," or _find_next(tokens, number) not in ("]", "}", ")"):
            parts.append(_JSON_FORMS.get(found[0], found[0]))
    return "".join(parts)


def _find_next(tokens: list[re.Match[str]], at: int) -> str:
    """Return the next token that is not white space; '' at the end."""
    at += 1
    while at < len(tokens) and tokens[at][0].isspace():
        at += 1
    return tokens[at][0] if at < len(tokens) else ""


def _mend_string(literal: str) -> str:
    quote = literal[-1]
    body = literal[literal.index(quote) + 1 : -1]
    if quote == "'":
        body = re.sub(r'(?<!\\)"', r"\"", body)

    def escape(found: re.Match[str]) -> str:
        if found["good"]:
            return found[0]
        return found["other"] if found["other"] == "'" else f"\\\\{found['other']}"

    return f'"{_BAD_ESCAPE.sub(escape, body)}"'


def _to_plain(value: Any) -> Any:
    """Convert a Python literal to the types of JSON."""
    if isinstance(value, dict):
        return {str(key): _to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_to_plain(item) for item in value]
    return value
