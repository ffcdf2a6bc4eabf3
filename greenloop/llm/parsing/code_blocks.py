"""Fenced code blocks of a model's answer.

CommonMark ends a block at the first closing fence, which truncates a module with a fence in a
docstring. Here a block ends at the first closing fence that leaves its content valid in its
language, or at the first closing fence where none does.
"""

import re
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.parsing.json_values import read_json
from greenloop.llm.parsing.reasoning import strip_reasoning
from greenloop.syntax.parse import cache_by_source, parse_or_none

_FENCE = re.compile(r"^[ \t]*(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$")
_CODE_START = re.compile(
    r"from [\w.]+ import\b|import [\w.]+( as \w+)?(,|$)|(async )?def \w+\(|class \w+[(:]|@\w+|#!"
)
_MAX_CLOSING_FENCES = 24  # each is parsed: bounds the time for an answer that consists of fences
_LANGUAGE = re.compile(r"[\w+#-]+")
_PYTHON_LANGUAGES = frozenset({"python", "py", "python3", "py3"})


@dataclass(frozen=True)
class CodeBlock:
    """One fenced block; `is_closed` is false where the answer ends within it."""

    language: str
    text: str
    is_closed: bool = True

    @property
    def is_python(self) -> bool:
        """Whether the block is marked as Python, or is unmarked and parses."""
        return self.language in _PYTHON_LANGUAGES or (
            not self.language and is_valid_python(self.text)
        )


@cache_by_source
def is_valid_python(source: str) -> bool:
    """Return whether `source` parses and is not blank."""
    return bool(source.strip()) and parse_or_none(source) is not None


def clean_response(response: str) -> str:
    """Return the answer with `\\n` line ends, without a byte order mark or leading reasoning.

    Raises InvalidResponse: the answer ends within its reasoning.
    """
    text = response.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    return strip_reasoning(text, _is_line_of_code)


def _is_line_of_code(text: str, line: int) -> bool:
    return is_valid_python(text) or any(
        start < line < end and _is_valid_body("python", block.text)
        for block, start, end in _locate_blocks(text)
    )


def extract_blocks(text: str) -> list[CodeBlock]:
    """Return the fenced blocks of a cleaned answer, in order, dedented by their fence."""
    return [block for block, _, _ in _locate_blocks(text)]


def _locate_blocks(text: str) -> Iterator[tuple[CodeBlock, int, int]]:
    """Yield each block with its range of lines, fences included."""
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
    # The language is `python` in `Python`, `python:src/x.py`, `{.python}`, `python title="x.py"`.
    language = (_LANGUAGE.findall(opening["info"].lower()) or [""])[0]
    closing = ((i, _FENCE.match(lines[i])) for i in range(start + 1, len(lines)))
    ends = [
        i
        for i, found in closing
        if found and not found["info"].strip() and found["fence"].startswith(opening["fence"])
    ]
    if not ends:
        body = _extract_body(lines, start, len(lines))
        return CodeBlock(language, body, is_closed=False), len(lines)
    for end in ends[:_MAX_CLOSING_FENCES]:
        body = _extract_body(lines, start, end)
        if _is_valid_body(language, body):
            return CodeBlock(language, body), end + 1
    for end in range(start + 1, ends[0]):  # the next block begins before this one is closed
        body = _extract_body(lines, start, end)
        if _FENCE.match(lines[end]) and language in _PYTHON_LANGUAGES and is_valid_python(body):
            return CodeBlock(language, body, is_closed=False), end
    return CodeBlock(language, _extract_body(lines, start, ends[0])), ends[0] + 1


def _extract_body(lines: Sequence[str], start: int, end: int) -> str:
    inner = list(lines[start + 1 : end])
    indent = len(lines[start]) - len(lines[start].lstrip())
    if indent and all(not line[:indent].strip() for line in inner):
        inner = [line[indent:] for line in inner]
    return "\n".join(inner).lstrip("\ufeff") + "\n"


def _is_valid_body(language: str, body: str) -> bool:
    if language in _PYTHON_LANGUAGES or not language:
        return is_valid_python(body)
    return language != "json" or _is_json(body)


def _is_json(text: str) -> bool:
    with suppress(InvalidResponse):
        read_json(text)
        return True
    return False


def drop_unfinished(text: str) -> str:
    """Return a truncated answer without its last line or open block, of which whole tests stay."""
    found = list(_locate_blocks(text))
    lines = text.split("\n")
    if not found or found[-1][0].is_closed:
        return "\n".join(lines[:-1])
    block, start, _ = found[-1]
    kept = "\n".join(lines[:start])
    body = block.text.split("\n")
    starts = [n for n, line in enumerate(body) if line and not line[0].isspace()]
    for end in reversed(starts) if "def test" in block.text else ():
        if is_valid_python(whole := "\n".join(body[:end])):
            return f"{kept}\n```python\n{whole}\n```\n"
    return kept


def text_outside_blocks(text: str) -> str:
    """Return the text of a cleaned answer that is in no block."""
    lines = text.split("\n")
    for _, start, end in reversed(list(_locate_blocks(text))):
        del lines[start:end]
    return "\n".join(lines).strip()


def blank_blocks(text: str) -> str:
    """Return a cleaned answer with empty lines in place of its blocks."""
    lines = text.split("\n")
    for _, start, end in _locate_blocks(text):
        lines[start:end] = [""] * (end - start)
    return "\n".join(lines)


def find_unfenced_code(text: str) -> str | None:
    """Return Python of an answer without fences: bare, below prose, or in a JSON object."""
    bare = textwrap.dedent(text).strip("\n") + "\n"
    for candidate in (bare, _code_from_json(text), _code_below_prose(bare)):
        is_code = candidate and re.search(r"^\s*(def|class|async def) ", candidate, re.M)
        if candidate and is_code and is_valid_python(candidate):
            return candidate
    return None


def _code_from_json(text: str) -> str | None:
    try:
        value = read_json(text.strip())
    except InvalidResponse:
        return None
    values = value.values() if isinstance(value, dict) else ()
    strings = [item for item in values if isinstance(item, str)]
    code = [s for s in strings if is_valid_python(s) and re.search(r"^(def|class) ", s, re.M)]
    return code[0] if len(code) == 1 else None


def _code_below_prose(text: str) -> str | None:
    """Return the longest valid Python that begins at the first line that looks like code."""
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if _CODE_START.match(line)), None)
    if start is None:
        return None
    for end in range(len(lines), start, -1):
        if is_valid_python(candidate := "\n".join(lines[start:end]) + "\n"):
            return candidate
    return None
