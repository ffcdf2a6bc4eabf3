"""Which test proves which requirement, and which requirement comes from which passage of the text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from greenloop.records import Attempt, EvidenceRow, Report, TestEntry
from greenloop.reporting.summary import pluralize
from greenloop.specification.examples import analyze_specification
from greenloop.specification.tracing import Trace, trace_contract

_MAX_TESTS = 400
_MAX_REQUIREMENTS = 24
_MAX_ATTEMPTS = 12
_EXCLUDED_OUTCOMES = ("dropped", "invalid", "not run", "skipped", "xfailed")


def classify_outcome(outcome: str) -> str:
    """Return `ok`, `bad`, `aside` (does not count), or `none` (not present)."""
    if outcome in ("", "passed"):
        return "ok" if outcome else "none"
    return "aside" if outcome in _EXCLUDED_OUTCOMES else "bad"


@dataclass(frozen=True, slots=True)
class Cell:
    """One outcome, as a mark and in words; `test` is the id of its test, where that matters."""

    state: str
    description: str
    test: str = ""

    @property
    def mark(self) -> str:
        return {"ok": "✓", "bad": "✗", "aside": "–", "none": "·"}[self.state]


@dataclass(frozen=True, slots=True)
class TestRow:
    """A test: which requirements it covers, its outcome in each attempt and at the end."""

    name: str
    file: str
    entry: TestEntry
    covers: tuple[bool, ...]
    attempt_cells: tuple[Cell, ...]
    final_cell: Cell


@dataclass(frozen=True, slots=True)
class RequirementRow:
    """A requirement with the tests that cover it."""

    id: str
    text: str
    tests: tuple[Cell, ...]
    omitted_count: int
    passed: int
    total: int


@dataclass(frozen=True, slots=True)
class TraceabilityMatrix:
    """The matrix; `left_out` tests are not in it, passing ones first."""

    requirements: tuple[str, ...]
    attempts: tuple[Attempt, ...]
    rows: tuple[TestRow, ...]
    left_out: int


def build_traceability_matrix(report: Report) -> TraceabilityMatrix:
    """Build the matrix; it has no requirements or attempts where the report has none."""
    named = {name for item in report.tests for name in item.requirements}
    contract = report.contract
    ids = tuple(item.id for item in contract.requirements) if contract else tuple(sorted(named))
    shown = ids if len(ids) <= _MAX_REQUIREMENTS else ()
    attempts = tuple(item for item in report.attempts if item.outcomes)[-_MAX_ATTEMPTS:]
    chosen: Sequence[TestEntry] = report.tests
    if len(chosen) > _MAX_TESTS:  # those that did not pass come first
        chosen = sorted(chosen, key=lambda item: item.outcome == "passed")[:_MAX_TESTS]
    rows = tuple(_build_row(item, shown, attempts) for item in chosen)
    return TraceabilityMatrix(shown, attempts, rows, len(report.tests) - len(chosen))


def build_requirement_rows(report: Report, max_tests: int = 120) -> tuple[RequirementRow, ...]:
    """Build a row for each requirement of the contract, with its active tests."""
    active = [item for item in report.tests if item.outcome not in ("dropped", "invalid")]
    rows = []
    for item in report.contract.requirements if report.contract else ():
        tests = [test for test in active if item.id in test.requirements]
        cells = tuple(
            _build_cell(test.outcome, short_name(test.id), test.id) for test in tests[:max_tests]
        )
        passed = sum(test.outcome == "passed" for test in tests)
        more = max(0, len(tests) - max_tests)
        rows.append(RequirementRow(item.id, item.text, cells, more, passed, len(tests)))
    return tuple(rows)


def names_no_requirement(entry: TestEntry) -> bool:
    """Return whether a test of the model's says nowhere what it proves."""
    return entry.origin in ("generated", "hardening") and not entry.requirements


def short_name(test: str) -> str:
    """Return a test's id without its file."""
    return test.partition("::")[2] or test


def _build_row(
    entry: TestEntry, requirements: Sequence[str], attempts: Sequence[Attempt]
) -> TestRow:
    return TestRow(
        name=short_name(entry.id),
        file=entry.id.partition("::")[0],
        entry=entry,
        covers=tuple(name in entry.requirements for name in requirements),
        attempt_cells=tuple(
            _build_cell(item.outcomes.get(entry.id, ""), f"attempt {item.n}") for item in attempts
        ),
        final_cell=_build_cell(entry.outcome, "at the end"),
    )


def _build_cell(outcome: str, label: str, test: str = "") -> Cell:
    return Cell(classify_outcome(outcome), f"{label}: {outcome or 'not present'}", test)


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
        """What the part is shown as: a CSS class, '' for text between passages."""
        kind = "asked" if self.requirements else (*self.kinds, "")[0]
        return kind.replace(" ", "-")


def build_text_parts(trace: Trace | None) -> tuple[TextPart, ...]:
    """Return the parts of a traced text in order; () for None."""
    return tuple(_split(trace)) if trace else ()


def list_evidence_rows(report: Report, trace: Trace | None = None) -> Iterator[EvidenceRow]:
    """Yield the row of the text, where it was traced, then those of the evidence.

    `trace` is that of `trace_report`, where the caller has it.
    """
    if trace := trace or trace_report(report):
        yield _build_passage_row(trace)
    yield from report.evidence.summary()


def trace_report(report: Report) -> Trace | None:
    """Return the contract as traced in the text; None where it was not."""
    contract, text = report.contract, report.specification[:_MAX_CHARS]
    if contract is None or not (contract.quotes_text or contract.unquoted):
        return None  # of an older version
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
        (len(contract.unquoted), "passage that nothing takes up"),
        (len(contract.not_covered), "thing that one module cannot give"),
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
    """Return what each word was taken for."""
    kinds: list[tuple[str, ...]] = [()] * len(trace.index.words)
    for place in trace.places:
        for number in place.words:
            kinds[number] = tuple(dict.fromkeys((*kinds[number], place.label)))
    for passage in trace.contract.unquoted:
        for number in trace.index.find(passage) or ():
            kinds[number] = kinds[number] or ("unquoted",)
    return kinds
