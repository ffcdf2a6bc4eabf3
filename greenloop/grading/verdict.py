"""What the evidence says together: forged, passed, or verified; and why it is not better."""

from __future__ import annotations

from collections.abc import Iterator

from greenloop.records import Coverage, Evidence, Mutation

_MAX_FINDINGS = 8
_MAX_LINES = 12
_MAX_TESTS = 3


def forgery(evidence: Evidence) -> str:
    """Why the green cannot be the code's own; '' where nothing speaks against it."""
    empty = evidence.empty_bodies
    if empty is not None and not empty.reached and not empty.cut_short:
        return "with every function body removed the tests still pass"
    if evidence.assertion_mutation is not None and evidence.assertion_mutation.forged:
        return f"a changed test stays green: {evidence.assertion_mutation.forged}"
    return ""


def shortfalls(evidence: Evidence, *, contracted: bool = True) -> tuple[str, ...]:
    """Why a green is not `verified`, one reason a piece of evidence; () where it is.

    Without a contract (`contracted` false) there is no stub to be red on, and no held-out example.
    """
    return tuple(_iter_shortfalls(evidence, contracted))


def _iter_shortfalls(evidence: Evidence, has_contract: bool) -> Iterator[str]:
    if has_contract and (evidence.red_phase is None or not evidence.red_phase.reached):
        yield "red phase: not every test was seen to fail on a stub"
    yield from _check_empty_bodies(evidence)
    yield from _check_assertion_mutation(evidence)
    yield from _check_isolation(evidence)
    yield from _check_memorization(evidence)
    if has_contract or "held_out" in evidence.not_measured:
        yield from _check_held_out(evidence)
    yield from _check_mutation(evidence)
    yield from _check_coverage(evidence)
    yield from _check_flakiness(evidence)
    findings = evidence.integrity
    yield from (f"integrity: line {item.line}: {item.what}" for item in findings[:_MAX_FINDINGS])
    if len(findings) > _MAX_FINDINGS:
        yield f"integrity: and {len(findings) - _MAX_FINDINGS} more findings"
    if evidence.returning:
        names = ", ".join(evidence.returning[:_MAX_TESTS])
        more = len(evidence.returning) - _MAX_TESTS
        yield (
            f"tests that return a value, which pytest passes over, and assert nothing: {names}"
            f"{f' (and {more} more)' if more > 0 else ''}"
        )
    if evidence.requirements_untested:
        yield f"requirements without a test: {', '.join(evidence.requirements_untested)}"


def _check_empty_bodies(evidence: Evidence) -> Iterator[str]:
    empty = evidence.empty_bodies
    if empty is None:
        yield f"empty bodies: {_describe_missing_evidence(evidence, 'empty_bodies')}"
    elif not empty.reached:
        yield f"empty bodies: {empty.cut_short or 'the tests pass on the code without its bodies'}"


def _describe_missing_evidence(evidence: Evidence, piece: str) -> str:
    why = evidence.not_measured.get(piece)
    return f"not measured: {why}" if why else "not taken"


def _check_assertion_mutation(evidence: Evidence) -> Iterator[str]:
    found, threshold = evidence.assertion_mutation, evidence.thresholds.assertion_mutation
    if found is None:
        yield f"assertion mutation: {_describe_missing_evidence(evidence, 'assertion_mutation')}"
    elif found.cut_short:
        yield f"assertion mutation: {found.cut_short}"
    elif found.green:
        first = found.green[0]
        more = f" (and {len(found.green) - 1} more)" if len(found.green) > 1 else ""
        yield (
            f"assertion mutation: {first.test} stays green when line {first.line} {first.change}: "
            f"there it does not tell right from wrong{more}"
        )
    elif not found.reached:
        yield (
            f"assertion mutation: {found.controlled} of {found.total} tests have an expected value that "
            f"could be changed and turn red by it, {threshold:.0%} are asked for"
        )


def _check_isolation(evidence: Evidence) -> Iterator[str]:
    """Whether tests can be split says nothing of the code; what it answers there does."""
    found = evidence.split
    if "split" in evidence.not_measured:
        yield f"split: {_describe_missing_evidence(evidence, 'split')}"
    if found is not None and found.only_beside:
        names = ", ".join(found.only_beside[:_MAX_TESTS])
        more = len(found.only_beside) - _MAX_TESTS
        yield f"passes only beside its tests: {names}{f' (and {more} more)' if more > 0 else ''}"


def _check_memorization(evidence: Evidence) -> Iterator[str]:
    """Whether the tests' own calls are answered without tests, and more than those calls.

    Held-out examples that agree are calls that no writer of code saw: then nothing is by heart.
    """
    found, held_out = evidence.memorization, evidence.held_out
    if "memorization" in evidence.not_measured:
        yield f"memorization: {_describe_missing_evidence(evidence, 'memorization')}"
    if found is None:
        return
    if found.differing:
        calls = ", ".join(f"`{item}`" for item in found.differing[:_MAX_TESTS])
        yield f"answers otherwise outside of its tests: {calls}"
    if found.functions and not (held_out is not None and held_out.reached):
        names = ", ".join(f"`{item}`" for item in found.functions[:_MAX_TESTS])
        yield f"by heart: {names} answers what the tests ask, and nothing like it: ask for more"


def _check_held_out(evidence: Evidence) -> Iterator[str]:
    held_out, agreement = evidence.held_out, evidence.thresholds.held_out_agreement
    if "held_out" in evidence.not_measured:
        yield f"held-out examples: {_describe_missing_evidence(evidence, 'held_out')}"
    elif held_out is None or not held_out.total:
        yield "held-out examples: none were given"
    elif held_out.cut_short:
        yield f"held-out examples: {held_out.cut_short}"
    elif held_out.agreed / held_out.total < agreement:
        yield f"held-out examples: {held_out.agreed} of {held_out.total} agree"


def _check_mutation(evidence: Evidence) -> Iterator[str]:
    found: Mutation | None = evidence.mutation
    threshold = evidence.thresholds.mutation_score
    if found is None:
        yield f"mutants: not measured: {evidence.not_measured.get('mutation', 'not taken')}"
    elif found.score is None or found.trouble:
        yield f"mutants: {found.trouble}"
    elif found.score < threshold:
        yield f"mutants: score {found.score:.2f} < {threshold}"


def _check_coverage(evidence: Evidence) -> Iterator[str]:
    found: Coverage | None = evidence.coverage
    limits = evidence.thresholds
    if found is None:
        yield f"coverage: not measured: {evidence.not_measured.get('coverage', 'not taken')}"
        return
    if found.line < limits.line_coverage:
        lines = ", ".join(map(str, found.missed_lines[:_MAX_LINES]))
        more = ", …" if len(found.missed_lines) > _MAX_LINES else ""
        yield f"coverage: {found.line:.0%} of lines < {limits.line_coverage:.0%}: {lines}{more}"
    if found.branch < limits.branch_coverage:
        ways = ", ".join(found.missed_branches[:_MAX_LINES])
        more = ", …" if len(found.missed_branches) > _MAX_LINES else ""
        yield f"coverage: {found.branch:.0%} of branches < {limits.branch_coverage:.0%}: {ways}{more}"


def _check_flakiness(evidence: Evidence) -> Iterator[str]:
    found = evidence.flakiness
    if found is None:
        yield f"flakiness: {_describe_missing_evidence(evidence, 'flakiness')}"
    elif found.cut_short:
        yield f"flakiness: {found.cut_short}"
    elif not found.reached:
        names = f": {', '.join(found.differing[:3])}" if found.differing else ""
        yield f"flakiness: in another order or with another hash seed the tests end otherwise{names}"
