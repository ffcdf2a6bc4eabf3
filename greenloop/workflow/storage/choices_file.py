"""`choices.md`: the open choices of a text, as a form that the user fills in."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.errors import InputError
from greenloop.files import writing
from greenloop.records import Choice, ChoiceAnswer
from greenloop.specification.choices import complete_answer, to_one_line
from greenloop.workflow.storage.run_dir import write_atomically

_HEAD = """# What the text leaves open

Mark one answer to each question with [x], or write another one after "other:", as an example or as
the result alone. Remove the questions that you leave open. Then:

    greenloop resume RUN_DIR --answers choices.md
"""
_MARK = re.compile(r"- \[(?P<mark>[ xX])\] (?P<key>[1-9]|other):(?P<text>.*)")


def save_choices(path: Path, choices: Sequence[Choice]) -> bool:
    """Write the file of a run's open choices; return whether there are any.

    The user's marks are kept: in the file if its questions are the same, else in a copy.
    Raises OutputError: it cannot be written.
    """
    text, found = render_choices(choices), ""
    with suppress(OSError, UnicodeDecodeError):
        found = path.read_text("utf-8")
    empty = re.sub(r"(?m)^(- \[)[xX](\])", r"\1 \2", found)
    if re.sub(r"(?m)^(- \[ \] other:).*$", r"\1", empty) == text:
        return bool(choices)
    with writing(path):
        if found and empty != found:
            path.replace(path.with_suffix(".previous.md"))
        path.unlink(missing_ok=True)
    if choices:
        write_atomically(path, text)
    return bool(choices)


def render_choices(choices: Sequence[Choice]) -> str:
    """Return the file: a section for each choice, named by its id."""
    return "\n".join([_HEAD, *(line for item in choices for line in _render_choice(item))])


def _render_choice(choice: Choice) -> Iterator[str]:
    yield f"## {choice.id}\n"
    if choice.quote:
        yield f"> {to_one_line(choice.quote)}\n"
    yield f"{to_one_line(choice.question)}\n"
    for number, answer in enumerate(choice.answers, 1):
        taken = " (taken)" if answer == choice.chosen else ""
        yield f"- [ ] {number}: {to_one_line(answer)}{taken}"
    yield "- [ ] other:\n"


def read_marked_answers(path: Path, text: str) -> tuple[tuple[str, str], ...]:
    """Return question and marked answer of each section of a file whose choices are not known.

    Raises InputError: a section has no question, or not exactly one answer.
    """
    found = []
    for section in re.split(r"(?m)^## ", text.replace("\r\n", "\n"))[1:]:
        name, *lines = (line.strip() for line in section.split("\n"))
        marked = [item for line in lines if (item := _MARK.fullmatch(line))]
        answers = [
            item["text"].strip().removesuffix("(taken)").strip()
            for item in marked
            if item["mark"] != " " or (item["key"] == "other" and item["text"].strip())
        ]
        asked = [line for line in lines if line and not line.startswith(("- [", ">"))]
        if not asked or len(answers) != 1:
            raise InputError(f"{path}: {name[:40]} needs its question and one marked answer")
        found.append((" ".join(asked), answers[0]))
    return tuple(found)


@dataclass
class _Section:
    """One choice of a file: the line of its heading, and the answers that are marked."""

    choice: Choice
    line: int
    answers: list[str] = field(default_factory=list)
    has_question: bool = False


def read_answers(path: Path, text: str, choices: Sequence[Choice]) -> tuple[ChoiceAnswer, ...]:
    """Return the answers that a filled-in file gives to open choices; () if it has no section.

    Raises InputError: an answer is unclear or to no open choice. The message names the line.
    """
    sections: list[_Section] = []
    lines = text.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        try:
            _read_line(line.strip(), number, sections, choices)
        except ValueError as error:
            raise InputError(f"{path}:{number}: {error}") from None
    for section in sections:
        if why := _explain_unclear(section):
            raise InputError(f"{path}:{section.line}: {section.choice.id} {why}")
    return tuple(
        ChoiceAnswer(question_sha256=item.choice.sha256, how="user", answer=item.answers[0])
        for item in sections
    )


def _explain_unclear(section: _Section) -> str:
    if not section.has_question:
        return "has lost its question; keep it as it was"
    if len(section.answers) > 1:
        return "has two answers: mark one"
    return "" if section.answers else "has no answer: mark one, or remove the section"


def _read_line(line: str, number: int, sections: list[_Section], choices: Sequence[Choice]) -> None:
    """Add what a line says to the sections. Raises ValueError: it is unclear."""
    if line.startswith("## "):
        sections.append(_Section(_find_choice(line[3:].strip(), sections, choices), number))
    elif sections and line.startswith("- "):
        section = sections[-1]
        section.answers += _read_mark(line, section.choice)
    elif sections and line and not line.startswith(">"):
        if line != to_one_line(sections[-1].choice.question):
            raise ValueError(f"the question of {sections[-1].choice.id} was a different one")
        sections[-1].has_question = True


def _find_choice(name: str, sections: list[_Section], choices: Sequence[Choice]) -> Choice:
    known = {item.id: item for item in choices}
    if name not in known:
        raise ValueError(f"no open choice is named {name[:40]!r}; there are {', '.join(known)}")
    if any(item.choice.id == name for item in sections):
        raise ValueError(f"{name} occurs twice")
    return known[name]


def _read_mark(line: str, choice: Choice) -> Iterator[str]:
    """Yield the answer of a line if it is marked."""
    found = _MARK.fullmatch(line)
    if found is None:
        raise ValueError("an answer is marked as `- [x] 1: …`, or written as `- [x] other: …`")
    text, is_marked = found["text"].strip(), found["mark"] != " "
    if found["key"] == "other":
        if not (text or is_marked):
            return
        answer = complete_answer(choice, text)
        if answer is None:
            raise ValueError(
                "other: is neither an example nor a literal or exception that a call gives"
            )
        yield answer
        return
    offered = dict(enumerate(choice.answers, 1)).get(int(found["key"]))
    if offered is None or text.removesuffix("(taken)").strip() != to_one_line(offered):
        raise ValueError(f"this answer of {choice.id} was changed: write yours after other:")
    if is_marked:
        yield offered
