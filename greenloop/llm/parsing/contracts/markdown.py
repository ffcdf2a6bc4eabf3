"""Parser of contracts in Markdown: a Python block with the interface, then lists under headings.

    ```python
    def mean(values: list[float]) -> float:
        ...
    ```
    Requirements
    - R1: mean([1, 2]) == 1.5 <- "the mean of the values"
    Choices
    - What of an empty list? <- "the mean": `mean([]) raises ValueError` or `mean([]) -> 0.0`; taken: first

Only the first two parts are needed. Marks, numbers and the spelling of headings may differ.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from greenloop.llm.parsing.code_blocks import (
    blank_blocks,
    extract_blocks,
    find_unfenced_code,
)
from greenloop.llm.parsing.completeness import public_names
from greenloop.llm.parsing.contracts.shapes import is_nothing
from greenloop.llm.parsing.errors import InvalidResponse

_SECTIONS = {
    "requirement": "requirements",
    "choice": "choices",
    "open question": "choices",
    "contradiction": "contradictions",
    "not covered": "not_covered",
    "assumption": "assumptions",
    "package": "packages",
    "background": "background",
    "module": "module",
    "summary": "summary",
    "interface": "interface",
}
_HEADING = re.compile(
    rf"^[\s#*_>\-]{{0,12}}(?P<name>{'|'.join(_SECTIONS)})s?(?:\s*\([^)\n]*\))?[*_`]*\s*"
    r"(?:$|:[*_`]*[ \t]*(?P<rest>.*)$)",
    re.IGNORECASE,
)
_MARK = re.compile(r"^\s*(?:[-*•+–]|\(?\d{1,3}[.)])\s+")
_LABEL = re.compile(r"^[*_`]*R(?P<number>[1-9]\d{0,3})[*_`]*\s*[:.)–—-]?[*_`]*\s*", re.IGNORECASE)
_ARROW = re.compile(r"(?:\s|^)(?:<-{1,3}|←)(?=[\s\"“„«]|$)\s*")
# A passage may hold quotation marks itself: it ends where a separator follows.
_QUOTED = re.compile(
    r"[\"“„«](?P<quote>.+?)[\"“”»](?=\s*(?:\.?\s*$|[;,:(]|\b(?:and|against|but|vs|contradicts)\b))",
    re.DOTALL,
)
# Passages of requirements, separated by semicolons: a passage may hold JSON.
_PASSAGE = re.compile(
    r"[\"“„«](?P<quote>.+?)[\"“”»](?=\s*(?:[.;]?\s*$|[;,]\s*[\"“„«]|\s\(|and\s+[\"“„«]))", re.DOTALL
)
# The passage of a choice, before its answers.
_RAISED_BY = re.compile(r"[\"“„«](?P<quote>.+?)[\"“”»](?=\s*:\s*`)", re.DOTALL)
_CODE = re.compile(r"(`+)(?P<code>.+?)\1(?!`)")
_TAKEN = re.compile(r"[;,.(]?\s*\btaken:\s*(?P<taken>.+?)\)?\s*\Z", re.IGNORECASE | re.DOTALL)
# Separators of answers, outside of their code.
_OR = re.compile(r"\s+or\s+")
_BETWEEN = re.compile(r"(?:\s*[,;]\s*(?:or\s+)?|\s+or\s+)(?=[^`]*(?:`[^`]*`[^`]*)*$)")
_RESULT = re.compile(r"(?:->|→|=>|==|returns|raises?)\s*\S")  # after a call
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a list, and the number of its line in the answer."""

    text: str
    line: int


def read_markdown_contract(text: str) -> dict[str, Any]:
    """Return the values of a contract that an answer has, by key.

    Raises InvalidResponse: a requirement has no text; the message names its line.
    """
    sections = _split_sections(blank_blocks(text))
    value: dict[str, Any] = {}
    if source := _find_interface(text):
        value["interface"] = source
    readers = {
        "requirements": _read_requirement,
        "choices": _read_choice,
        "contradictions": _read_contradiction,
    }
    for key, items in sections.items():
        if key in ("module", "summary"):
            value[key] = " ".join(item.text for item in items)
        elif key != "interface":
            read = readers.get(key, _read_text)
            entries = (read(item) for item in items if not is_nothing(item.text))
            value[key] = [item for item in entries if item is not None]
    return value


def _find_interface(text: str) -> str:
    """Return the block that defines the most names; '' without one."""
    sources = [item.text for item in extract_blocks(text) if item.is_python]
    if not sources and (bare := find_unfenced_code(text)):
        sources = [bare]
    return max(sources, key=lambda item: len(public_names(item)), default="")


def _split_sections(text: str) -> dict[str, list[Item]]:
    """Return the list entries of each section; text outside of all sections is left out."""
    found: dict[str, list[Item]] = {}
    key = ""
    for number, line in enumerate(text.split("\n"), 1):
        heading = _HEADING.match(line)
        if heading and not _LABEL.match(line):
            key = _SECTIONS[heading["name"].lower()]
            items = found.setdefault(key, [])
            if (heading["rest"] or "").strip():
                items.append(Item(heading["rest"].strip(), number))
        elif _LABEL.match(_MARK.sub("", line)):
            key = "requirements"
            found.setdefault(key, []).append(Item(_MARK.sub("", line).strip(), number))
        elif key and line.strip():
            _add_line(found[key], line, number)
    return found


def _add_line(items: list[Item], line: str, number: int) -> None:
    """Begin an entry, or continue the last one where the line has no list mark."""
    if items and not _MARK.match(line):
        items[-1] = replace(items[-1], text=f"{items[-1].text}\n{line.strip()}")
    else:
        items.append(Item(_MARK.sub("", line).strip(), number))


def _read_text(item: Item) -> str:
    text = item.text.strip()
    quoted = re.fullmatch(r"[\"“]([^\"“”]*)[\"”]", text)
    return quoted[1] if quoted else text


def _read_requirement(item: Item) -> dict[str, Any]:
    label = _LABEL.match(item.text)
    rest = item.text[label.end() :] if label else item.text
    parts = _ARROW.split(rest)
    number = f"R{label['number']}" if label else ""
    if re.fullmatch(r"\W*(removed|taken out|deleted)\W*", rest, re.IGNORECASE):
        return {"id": number}
    if not parts[0].strip():
        raise InvalidResponse(f"Line {item.line} of your answer says nothing: `{item.text}`.")
    quotes = [quote for part in parts[1:] for quote in _read_quotes(part)]
    text = " ".join(map(str.strip, parts[0].strip().split("\n")))  # spaces within a line may matter
    return {"id": number, "text": text, "quotes": quotes}


def _read_quotes(text: str) -> Iterator[str]:
    """Yield the passages in quotation marks; the whole text where there are none."""
    found = [item["quote"] for item in _PASSAGE.finditer(text)]
    yield from found or filter(None, [text.strip().strip("\"'“”„«»")])


def _read_contradiction(item: Item) -> dict[str, Any] | None:
    quotes = [found["quote"] for found in _QUOTED.finditer(item.text)]
    calls = [found["code"] for found in _CODE.finditer(item.text)]
    return {"quotes": quotes[:2], "call": calls[-1] if calls else ""} if quotes[1:] else None


def _read_choice(item: Item) -> dict[str, Any] | None:
    """Return a question with its answers; None for an entry that offers none."""
    text = item.text
    taken = _TAKEN.search(text)
    body = text[: taken.start()] if taken else text
    question, quote = body, ""
    if arrow := _ARROW.search(body):
        question, rest = body[: arrow.start()], body[arrow.end() :]
        quoted = _RAISED_BY.match(rest) or _QUOTED.match(rest)
        quote, body = (quoted["quote"], rest[quoted.end() :]) if quoted else ("", rest)
    elif "?" in body:
        question, _, body = body.partition("?")
        question += "?"
    answers = list(dict.fromkeys(filter(None, _read_answers(body))))
    if not answers or not question.strip():
        return None
    chosen = _find_taken(taken["taken"] if taken else "", answers)
    quotes = {"quote": quote} if quote else {}
    return {"question": question.strip(), **quotes, "answers": answers, "chosen": chosen}


def _read_answers(text: str) -> Iterator[str]:
    """Yield the answers that "or" separates: "`f(1)` writes `a` or `b`" gives the call to both
    answers, and "`f(1)` raises KeyError" keeps the error.
    """
    parts = (_BETWEEN if "`" in text else _OR).split(text)
    shared = ""
    for part in parts:
        codes = [*_CODE.finditer(part)]
        if codes[1:]:
            shared = part[codes[0].start() : codes[-1].start()].replace("`", "")
        rest = part[codes[-1].end() :].strip(" .:;") if codes else part.strip(" .:;`")
        result = f" {rest}" if _RESULT.match(rest) else ""
        yield f"{shared}{codes[-1]['code']}{result}" if codes else rest


def _find_taken(text: str, answers: list[str]) -> str:
    """Return the answer that a text names by its position or in full; else the first one."""
    text = text.strip().strip("`.* ")
    if text in answers:
        return text
    for number, ordinal in enumerate(_ORDINALS[: len(answers)]):
        if re.match(rf"(?:{ordinal}|{number + 1})\b(?!\.\d)", text.lower()):
            return answers[number]
    return text or answers[0]
