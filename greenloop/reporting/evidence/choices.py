"""Open questions for display: the call that all answers share, and the answers below it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from greenloop.records import Choice, Report
from greenloop.records.contract import LEFT_OPEN

ADVICE = "answer in choices.md for `resume --answers`, or accept what was taken with `resume --accept-choices`"
_NOT_MEASURED = ": not measured: "
# Between a call and its result; of an exception, "raises ValueError" is the result.
_RESULT = re.compile(r" -> | (?=raises \w)")


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """An open question. `call` is shared by all answers, else ''; the first answer was taken."""

    text: str
    call: str
    answers: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        return ("taken", *["or"] * (len(self.answers) - 1))


def split_answers(choice: Choice) -> tuple[str, tuple[str, ...]]:
    """Return the call that all answers begin with ('' if they do not), and the rest of each."""
    parts = [_RESULT.split(answer, maxsplit=1) for answer in choice.answers]
    calls = {call for call, *_ in parts}
    if len(calls) != 1 or any(len(part) != 2 for part in parts):
        return "", choice.answers
    return min(calls), tuple(result for _, result in parts)


def split_reasons(report: Report) -> tuple[tuple[str, ...], tuple[OpenQuestion, ...]]:
    """Return the reasons against `verified`, with the open questions among them apart."""
    others = [item for item in report.reasons if not item.startswith(LEFT_OPEN)]
    if report.contract is None or len(others) == len(report.reasons):
        return tuple(_merge_unmeasured(report.reasons)), ()
    return tuple(_merge_unmeasured(others)), tuple(
        map(_build_question, report.contract.open_choices)
    )


def _merge_unmeasured(reasons: Iterable[str]) -> Iterator[str]:
    """Yield the reasons; pieces that were not measured for the same cause share one."""
    named: dict[str, list[str]] = {}
    for reason in reasons:
        name, mark, cause = reason.partition(_NOT_MEASURED)
        named.setdefault(f"{mark}{cause}" if mark else reason, []).append(name)
    for text, names in named.items():
        yield f"{', '.join(names)}{text}" if text.startswith(_NOT_MEASURED) else text


def _build_question(choice: Choice) -> OpenQuestion:
    call, answers = split_answers(choice)
    offered = dict(zip(choice.answers, answers, strict=True))
    taken = offered.pop(choice.chosen, choice.chosen)
    shown = "" if f"`{call}`" in choice.question else call  # not twice
    return OpenQuestion(choice.question, shown, (taken, *offered.values()))
