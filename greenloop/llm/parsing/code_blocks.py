"""Fenced blocks in a model's answer, as models really write them.

CommonMark ends a block at the first closing fence, which cuts a module whose docstring holds a
fence of its own. So of all possible closing fences the first is taken at which the block makes
sense in its language; where none does, the first.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.llm.parsing.errors import InvalidResponse

_FENCE = re.compile(r"^[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$")
_REASONING_TAGS = r"think|thinking|thought|thoughts|reasoning|reflection"
_OPENING_TAG = re.compile(rf"\s*<(?P<tag>{_REASONING_TAGS})>", re.IGNORECASE)
_CLOSING_TAG = re.compile(rf"</(?:{_REASONING_TAGS})>", re.IGNORECASE)
# Some servers drop the opening tag. A quoted tag is code about tags, not the end of reasoning.
_ORPHAN_TAG = re.compile(
    rf"^[^'\"`\n<]*</(?:{_REASONING_TAGS})>|</(?:{_REASONING_TAGS})>[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_CODE_START = re.compile(
    r"from [\w.]+ import\b|import [\w.]+( as \w+)?(,|$)|(async )?def \w+\(|class \w+[(:]|@\w+|#!"
)
_MAX_CLOSING_FENCES = (
    24  # each is tried by parsing: an answer of nothing but fences must not take for ever
)
_LANGUAGE = re.compile(r"[\w+#-]+")
_PYTHON_LANGUAGES = frozenset({"python", "py", "python3", "py3"})


@dataclass(frozen=True)
class CodeBlock:
    """One fenced block; `closed` is false where the answer ended inside it."""

    language: str
    text: str
    is_closed: bool = True

    @property
    def is_python(self) -> bool:
        return self.language in _PYTHON_LANGUAGES or (
            not self.language and is_valid_python(self.text)
        )


def is_valid_python(source: str) -> bool:
    """Whether `source` is Python and more than blank."""
    if not source.strip():
        return False
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def clean_response(response: str) -> str:
    """The answer with one kind of line end, without a byte order mark or leading reasoning.

    Raises:
        Unusable: the answer ends inside its reasoning.
    """
    text = response.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    while opened := _OPENING_TAG.match(text):
        closed = _CLOSING_TAG.search(text, opened.end())
        if closed is None:
            raise InvalidResponse("The answer ended inside its reasoning; give the answer itself.")
        text = text[closed.end() :]
    return _strip_orphan_tag(text)


def _strip_orphan_tag(text: str) -> str:
    """From behind a closing tag that nothing opened; a tag inside of whole code is part of it."""
    if _ORPHAN_TAG.search(text) is None or is_valid_python(text):
        return text
    code = [
        (start, end)
        for block, start, end in _locate_blocks(text)
        if _is_valid_body("python", block.text)
    ]
    for found in _ORPHAN_TAG.finditer(text):
        line = text.count("\n", 0, found.end())
        if not any(start < line < end for start, end in code):
            return text[found.end() :]
    return text


def extract_blocks(text: str) -> list[CodeBlock]:
    """All fenced blocks of a cleaned answer, in order, their common indentation taken off."""
    return [block for block, _, _ in _locate_blocks(text)]


def _locate_blocks(text: str) -> Iterator[tuple[CodeBlock, int, int]]:
    """Each block with the lines that it takes: from its opening fence to behind its closing one."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        if opening is None:
            at += 1
            continue
        block, end = _read_block(lines, at, opening)
        yield block, at, end
        at = end


def _read_block(lines: Sequence[str], start: int, opening: re.Match[str]) -> tuple[CodeBlock, int]:
    language = _parse_language(opening["info"])
    ends = [
        i for i in range(start + 1, len(lines)) if _is_closing_fence(lines[i], opening["fence"])
    ]
    if not ends:
        return CodeBlock(language, _extract_body(lines, start, len(lines)), is_closed=False), len(
            lines
        )
    for end in ends[:_MAX_CLOSING_FENCES]:
        body = _extract_body(lines, start, end)
        if _is_valid_body(language, body):
            return CodeBlock(language, body), end + 1
    for end in range(start + 1, ends[0]):  # a next block begins, and this one was never closed
        body = _extract_body(lines, start, end)
        if _FENCE.match(lines[end]) and language in _PYTHON_LANGUAGES and is_valid_python(body):
            return CodeBlock(language, body, is_closed=False), end
    return CodeBlock(language, _extract_body(lines, start, ends[0])), ends[0] + 1


def _parse_language(info: str) -> str:
    """`python` of `Python`, `python:src/x.py`, `{.python}`, `python title="x.py"`."""
    found = _LANGUAGE.search(info.lower())
    return found.group() if found else ""


def _extract_body(lines: Sequence[str], start: int, end: int) -> str:
    inner = list(lines[start + 1 : end])
    indent = len(lines[start]) - len(lines[start].lstrip())
    if indent and all(not line[:indent].strip() for line in inner):
        inner = [line[indent:] for line in inner]
    return "\n".join(inner).lstrip("\ufeff") + "\n"


def _is_closing_fence(line: str, fence: str) -> bool:
    closing = _FENCE.match(line)
    return (
        closing is not None and not closing["info"].strip() and closing["fence"].startswith(fence)
    )


def _is_valid_body(language: str, body: str) -> bool:
    if language == "json":
        return _is_json(body)
    if language in _PYTHON_LANGUAGES or not language:
        return is_valid_python(body)
    return True


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except ValueError:
        return False
    return True


def text_outside_blocks(text: str) -> str:
    """The prose of a cleaned answer: everything that is in no block."""
    lines = text.split("\n")
    for _, start, end in reversed(list(_locate_blocks(text))):
        del lines[start:end]
    return "\n".join(lines).strip()


def find_unfenced_code(text: str) -> str | None:
    """Python in an answer without any fence: bare, below some prose, or inside a JSON object."""
    bare = textwrap.dedent(text).strip("\n") + "\n"
    for candidate in (bare, _code_from_json(text), _code_below_prose(bare)):
        if (
            candidate
            and is_valid_python(candidate)
            and re.search(r"^\s*(def|class|async def) ", candidate, re.M)
        ):
            return candidate
    return None


def _code_from_json(text: str) -> str | None:
    try:
        value = json.loads(text.strip(), strict=False)
    except ValueError:
        return None
    strings = (
        [item for item in value.values() if isinstance(item, str)]
        if isinstance(value, dict)
        else []
    )
    code = [
        item
        for item in strings
        if is_valid_python(item) and re.search(r"^(def|class) ", item, re.M)
    ]
    if len(code) == 1:
        return code[0]
    return None


def _code_below_prose(text: str) -> str | None:
    """From the first line that begins code, to the last line with which it still parses."""
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if _CODE_START.match(line)), None)
    if start is None:
        return None
    for end in range(len(lines), start, -1):
        if is_valid_python(candidate := "\n".join(lines[start:end]) + "\n"):
            return candidate
    return None
