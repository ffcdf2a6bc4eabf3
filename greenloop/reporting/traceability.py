"""Traceability of passages of the text to requirements, and of requirements to tests."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from greenloop.records import EvidenceRow, Report, TestEntry
from greenloop.reporting.summary import pluralize
from greenloop.specification.examples import analyze_specification
from greenloop.specification.tracing import Trace, trace_contract

_EXCLUDED_OUTCOMES = ("dropped", "invalid", "not run", "skipped", "xfailed")


def classify_outcome(outcome: str) -> str:
    """Return `ok`, `bad`, or `aside` (does not count)."""
    aside = "aside" if outcome in _EXCLUDED_OUTCOMES else "bad"
    return "ok" if outcome == "passed" else aside


@dataclass(frozen=True, slots=True)
class RequirementRow:
    """A requirement with the active tests that cover it."""

    id: str
    text: str
    tests: tuple[TestEntry, ...]

    @property
    def total(self) -> int:
        return len(self.tests)

    @property
    def passed(self) -> int:
        return sum(item.outcome == "passed" for item in self.tests)


def build_requirement_rows(report: Report) -> tuple[RequirementRow, ...]:
    """Build a row for each requirement of the contract, with its active tests."""
    active = [item for item in report.tests if _counts(item)]
    return tuple(
        RequirementRow(item.id, item.text, tuple(i for i in active if item.id in i.requirements))
        for item in (report.contract.requirements if report.contract else ())
    )


def _counts(entry: TestEntry) -> bool:
    """Return whether a test says something about its requirements: held-out ones after a run only."""
    is_unmeasured = entry.origin == "held_out" and entry.outcome == "not run"
    return entry.is_active and not is_unmeasured


def names_no_requirement(entry: TestEntry) -> bool:
    """Return whether a test that the model wrote names no requirement."""
    return entry.origin in ("generated", "hardening") and not entry.requirements


def short_name(test: str) -> str:
    """Return a test's id without its file."""
    return test.partition("::")[2] or test


_MAX_CHARS = 60_000  # of the text; report.json has the rest


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of the text. `kinds` are `background`, `example`, …, and ids of requirements."""

    text: str
    kinds: tuple[str, ...] = ()

    @property
    def requirements(self) -> tuple[str, ...]:
        return tuple(item for item in self.kinds if item.startswith("R"))

    @property
    def state(self) -> str:
        """The CSS class of the part; '' for text between passages."""
        kind = "asked" if self.requirements else (*self.kinds, "")[0]
        return kind.replace(" ", "-")


def build_text_parts(trace: Trace | None) -> tuple[TextPart, ...]:
    """Return the parts of a traced text in order; () for None."""
    return tuple(_split(trace)) if trace else ()


def list_evidence_rows(report: Report, trace: Trace | None = None) -> Iterator[EvidenceRow]:
    """Yield the row of the text, if it can be traced, then those of the evidence.

    `trace` is the result of `trace_report`, if the caller has it.
    """
    if trace := trace or trace_report(report):
        yield _build_passage_row(trace)
    yield from report.evidence.summary()


def trace_report(report: Report) -> Trace | None:
    """Return the trace of the contract in the text; None if there is none."""
    contract, text = report.contract, report.specification[:_MAX_CHARS]
    if contract is None or not (contract.quotes_text or contract.unquoted):
        return None  # a report of an older version
    examples = analyze_specification(text).examples
    trace = trace_contract(
        contract.model_copy(update={"specification": text, "examples": examples})
    )
    return trace if trace.index.words else None


def _build_passage_row(trace: Trace) -> EvidenceRow:
    contract, total = trace.contract, len(trace.index.words)
    share = len(trace.covered) / total
    text = f"{share:.0%} of {pluralize(total, 'word')} in quotes, background and examples"
    for number, what in (
        (len(contract.unquoted), "passage that no requirement covers"),
        (len(contract.not_covered), "thing that one module cannot provide"),
    ):
        text += f", {number} {what.replace(' ', 's ', 1) if number > 1 else what}" * bool(number)
    reached = not (contract.unquoted or contract.not_covered)
    return EvidenceRow("text", reached, text, f"{share:.0%}", share)


def _split(trace: Trace) -> Iterator[TextPart]:
    kinds = _collect_kinds(trace)
    text, words, done = trace.index.text, trace.index.words, 0
    for own, run in groupby(range(len(words)), kinds.__getitem__):
        numbers = list(run)
        begin, end = words[numbers[0]].start, words[numbers[-1]].end
        if own:
            yield TextPart(text[done:begin])
            yield TextPart(text[begin:end], own)
            done = end
    yield TextPart(text[done:])


def _collect_kinds(trace: Trace) -> list[tuple[str, ...]]:
    """Return the kinds of each word, as in `TextPart`."""
    kinds: list[tuple[str, ...]] = [()] * len(trace.index.words)
    for place in trace.places:
        for number in place.words:
            kinds[number] = tuple(dict.fromkeys((*kinds[number], place.label)))
    for passage in trace.contract.unquoted:
        for number in trace.index.find(passage) or ():
            kinds[number] = kinds[number] or ("unquoted",)
    return kinds
