"""Right programs in two forms, and mistakes in the first one as replaced text: `peer_corpus.md`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```\w+ (\w+)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Case:
    """`mistakes` are pairs: a text of `right`, and what a wrong program has there."""

    name: str
    interface: str
    right: str
    other: str
    tests: str
    mistakes: tuple[tuple[str, str], ...]
    inputs: str = ""
    text: str = ""


def read_cases() -> tuple[Case, ...]:
    """Return the cases of the file."""
    content = Path(__file__).with_suffix(".md").read_text("utf-8")
    return tuple(_read_case(section) for section in content.split("\n## ")[1:])


def _read_case(section: str) -> Case:
    name, _, rest = section.partition("\n")
    blocks = dict(_BLOCK.findall(rest))
    pairs = (line.partition(" => ") for line in blocks.pop("mistakes").split("\n"))
    mistakes = tuple((_unescape(old), _unescape(new)) for old, _, new in pairs)
    return Case(name=name, mistakes=mistakes, text=rest.partition("```")[0].strip(), **blocks)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], text)
