"""The corpus of modules with test files in the styles that models write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "fixtures" / "module_corpus"
_BETWEEN = "# ----- tests -----\n"


@dataclass(frozen=True)
class Pair:
    """A module and tests that pass on it."""

    name: str
    code: str
    tests: str


def pairs() -> list[Pair]:
    """Return all pairs, by name."""
    texts = {path.stem: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.txt"))}
    return [Pair(name, *text.split(_BETWEEN)) for name, text in texts.items()]
