"""Reader of the cases in `data/`: Markdown files with a section for each case.

The first heading names the file's group. A section has the case's name, a line with attributes where
it needs one, and blocks: `python` (the module `m`), `python tests`, `python right` (the correct module
that a forgery pretends to be) and `python hidden` (calls that the tests do not make). A forgery that
names a subject has its tests and its correct module from there.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from tests.security.forgery.case import Attack, Forgery, Odd, Subject

_DATA = Path(__file__).parent / "data"
_BLOCK = re.compile(r"^(`{3,})python ?(\w*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^(`{3,})python", re.MULTILINE)
_RIGHT = "<the right module>\n"


@dataclass(frozen=True)
class _Section:
    """A case as it is written: its group, name, attributes and blocks by kind ('' for the module)."""

    group: str
    name: str
    attributes: dict[str, str]
    blocks: dict[str, str]

    @property
    def subject(self) -> Subject:
        if "subject" in self.attributes:
            return _all_subjects()[self.attributes["subject"]]
        hidden = tuple(self.blocks.get("hidden", "").splitlines())
        return Subject(self.blocks["tests"], self.blocks["right"], hidden)


def read_subjects(file: str) -> dict[str, Subject]:
    """Return the subjects of a file of `data/`, by name."""
    return {item.name: item.subject for item in _read(_DATA / file)}


def read_forgeries(folder: str) -> dict[str, Forgery]:
    """Return the forgeries of a folder of `data/`, by group and name."""
    return {f"{item.group}: {item.name}": _as_forgery(item) for item in _read_folder(folder)}


def read_honest(folder: str) -> dict[str, Odd]:
    """Return the correct modules of a folder of `data/`, by name."""
    return {item.name: _as_odd(item) for item in _read_folder(folder)}


@functools.cache
def _all_subjects() -> dict[str, Subject]:
    return read_subjects("subjects.md") | read_subjects("kinds.md")


def _as_forgery(item: _Section) -> Forgery:
    code = item.blocks[""].replace(_RIGHT, item.subject.right)
    attack = cast(Attack, item.attributes["attack"])
    return Forgery(attack, item.subject, code, "early" in item.attributes)


def _as_odd(item: _Section) -> Odd:
    """Return a correct module; the tests of one that is `unended` have no newline at their end."""
    tests = item.blocks["tests"]
    return Odd(
        code=item.blocks[""],
        tests=tests.removesuffix("\n") if "unended" in item.attributes else tests,
        weak="weak" in item.attributes,
        looking="looking" in item.attributes,
    )


def _read_folder(folder: str) -> Iterator[_Section]:
    for path in sorted((_DATA / folder).glob("*.md")):
        yield from _read(path)


def _read(path: Path) -> Iterator[_Section]:
    """Yield the sections of a file; `## ` within a block is no heading."""
    head, *rest = re.split(
        r"^## ", _hide_blocks(text := path.read_text("utf-8")), flags=re.MULTILINE
    )
    group, place = head.splitlines()[0].removeprefix("# "), len(head)
    for hidden in rest:
        section = text[place : place + len(hidden) + 3]
        place += len(section)
        yield _parse(group, section)


def _hide_blocks(text: str) -> str:
    """Return the text with as many dots for what stands in blocks."""
    return _BLOCK.sub(lambda found: re.sub(r"[^\n]", ".", found[0]), text)


def _parse(group: str, section: str) -> _Section:
    name, _, rest = section.removeprefix("## ").partition("\n")
    opening = _FENCE.search(rest)
    listed = rest[: opening.start() if opening else None].strip()
    pairs = (item.partition(": ") for item in listed.split(", ") if item)
    blocks = {kind: text for _, kind, text in _BLOCK.findall(rest)}
    return _Section(group, name, {key: value for key, _, value in pairs}, blocks)
