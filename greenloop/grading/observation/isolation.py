"""Isolated run: the tests' programs run in a process without tests; the host compares the results.

A difference alone may be a mistake of the analysis. It counts if the same program shows it again,
and does not show it when it runs beside the tests.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from greenloop.grading.context import GradingContext
from greenloop.grading.observation.equality import AmbiguousError
from greenloop.grading.observation.expectations import holds
from greenloop.grading.observation.values import NoEvidenceError
from greenloop.records import Isolated, NotObservable
from greenloop.records.evidence.answers import LOOKS_AT
from greenloop.sandbox.job import HASH_SEED
from greenloop.sandbox.work.observations import Observations, ObservedRow, load
from greenloop.testsuite import TestFile
from greenloop.testsuite.programs import Program, ProgramFile, build_programs

# Hash seed of the first run: code that depends on the order of a set is unsteady, not forged.
_SEED_OF_TESTS = 0
_CRASHED = "(crashed"  # the code ended its process on purpose, as no limit was reached
_NO_MODULE = "ModuleNotFoundError: "  # a helper module of the tests is not in the process
_OTHER_RESULT = "the copy that greenloop makes of the test gives another result"
_UNSTEADY = "does not give the same result each time"


@dataclass(frozen=True)
class Judgement:
    """Judgement of a program. `own` of its compared `answers` show nothing."""

    outcome: Literal["agrees", "differs", "unclear"]
    line: int = 0
    reason: str = ""
    answers: int = 0
    own: int = 0
    replaced: str = ""  # a built-in function that the code has replaced
    has_looked: bool = False  # the code read its callers or machine: another process shows nothing
    ambiguous: frozenset[str] = frozenset()  # exceptions that several unrelated classes catch


def measure(context: GradingContext) -> Isolated | str:
    """Compare what the tests' programs observe with what the tests expect.

    Raises SandboxError: the sandbox cannot run anything.
    """
    return measure_modules([context])


def measure_modules(contexts: Sequence[GradingContext]) -> Isolated | str:
    """Do the same as `measure` for several modules, each with its own tests.

    Raises SandboxError: the sandbox cannot run anything.
    """
    found: dict[tuple[str, str], list[Judgement]] = {}
    refused: list[NotObservable] = []
    for context in contexts:
        for file in context.tests:
            plan = plan_programs(context, file)
            refused += plan.not_observed
            for program, judgement in _judge_file(context, file, plan):
                found.setdefault((file.name, program.test), []).append(judgement)
    if not found and not refused:
        return "no test function was found"
    names_builtins = any("builtins" in file.code for i in contexts for file in i.tests)
    return _summarize(found, refused, names_builtins)


def plan_programs(context: GradingContext, file: TestFile) -> ProgramFile:
    """Return the programs of a test file."""
    code, shared = context.read_test(file)
    path = context.project.find_path(file) if context.project else ""
    return build_programs(code, context.module, shared, path)


def _summarize(
    found: Mapping[tuple[str, str], Sequence[Judgement]],
    refused: list[NotObservable],
    names_builtins: bool,
) -> Isolated:
    agreed, differing, unclear = 0, [], []
    for (_, test), rows in found.items():
        worst = max(rows, key=lambda row: ("agrees", "unclear", "differs").index(row.outcome))
        if worst.outcome == "agrees":
            agreed += 1
        elif worst.outcome == "differs":
            differing.append(test)
        else:
            contradicts = worst.reason.startswith(_OTHER_RESULT)
            unclear.append(
                NotObservable(
                    test=test, line=worst.line, reason=worst.reason, contradicts=contradicts
                )
            )
    judgements = [row for rows in found.values() for row in rows]
    ambiguous = sorted({name for row in judgements for name in row.ambiguous})
    return Isolated(
        reached=not (differing or ambiguous),
        tests=len(found) + len(refused),
        observed=agreed + len(differing),
        agreed=agreed,
        differing=tuple(differing),
        not_observable=(*unclear, *refused),
        answers=sum(row.answers for row in judgements),
        own_answers=sum(row.own for row in judgements),
        ambiguous=tuple(ambiguous),
        replaced=(
            () if names_builtins else tuple(sorted({row.replaced for row in judgements} - {""}))
        ),
    )


def _judge_file(
    context: GradingContext, file: TestFile, plan: ProgramFile
) -> Iterator[tuple[Program, Judgement]]:
    """Yield the judgement of each program of a test file."""
    if not plan.programs:
        return
    first = _observe_configured(context, file, plan, _observe(context, plan))
    doubtful = {
        at
        for at, item in enumerate(first)
        if item.outcome == "differs" or (item.own and not item.has_looked)
    }
    beside = _observe(context, plan, context.tests) if doubtful else []
    confirmed = {at for at in doubtful if _is_better(beside[at], first[at])}
    again = _observe(context, plan, hash_seed=_SEED_OF_TESTS) if confirmed else []
    for at, (program, item) in enumerate(zip(plan.programs, first, strict=True)):
        if at in confirmed and _is_better(beside[at], again[at]):
            yield program, replace(item, outcome="differs")
        elif item.outcome == "differs":
            yield program, _withdraw(item, _UNSTEADY if at in confirmed else _OTHER_RESULT)
        else:
            yield program, item


def _observe_configured(
    context: GradingContext, file: TestFile, plan: ProgramFile, first: list[Judgement]
) -> list[Judgement]:
    """Run the programs that raised in a project again, in a process that pytest has configured.

    Return the judgements `first`, replaced for programs that end there: a program alone may lack
    what the project's plug-ins and conftest files set up, and folders in which they find modules.
    """
    failed = [at for at, item in enumerate(first) if _has_raised(item)]
    if not failed or context.project is None:
        return first
    chosen = replace(plan, programs=tuple(plan.programs[at] for at in failed))
    seen = context.project.observe(
        context.code, context.module, chosen.text, configured_for=file.name
    )
    ended = {row.program for row in seen.rows if row.has_ended}
    again = zip(failed, _judge_rows(chosen, seen), strict=True)
    found = {at: item for number, (at, item) in enumerate(again) if number in ended}
    return [found.get(at, item) for at, item in enumerate(first)]


def _has_raised(item: Judgement) -> bool:
    return _NO_MODULE in item.reason or (item.outcome == "differs" and item.reason != "")


def _is_better(beside: Judgement, alone: Judgement) -> bool:
    """Whether more answers agree beside the tests; an incomparable answer may hide a difference."""
    is_less = alone.outcome == "differs" or alone.own > beside.own
    return beside.outcome == "agrees" and is_less


def _withdraw(item: Judgement, why: str) -> Judgement:
    """Return a difference as an unclear result, with the reason why it does not count."""
    reason = f"{why} ({item.reason})" if item.reason else why
    return replace(item, outcome="unclear", reason=reason, own=item.answers)


def _observe(
    context: GradingContext,
    plan: ProgramFile,
    beside: Sequence[TestFile] = (),
    hash_seed: int = HASH_SEED,
) -> list[Judgement]:
    """Run the programs in a process of their own, or beside tests; return their judgements.

    If the code looks at its machine in some, the programs after the first of these run again in a
    process without them, where nothing that they found can decide.
    """
    judged, late = _observe_once(context, plan, beside, hash_seed)
    if 0 < len(late) < len(judged):  # after a look at import, all are late
        chosen = replace(plan, programs=tuple(plan.programs[at] for at in late))
        again, _ = _observe_once(context, chosen, beside, hash_seed)
        for at, item in zip(late, again, strict=True):
            judged[at] = item
    return judged


def _observe_once(
    context: GradingContext, plan: ProgramFile, beside: Sequence[TestFile], hash_seed: int
) -> tuple[list[Judgement], list[int]]:
    """Return the judgements, and the numbers of programs before which the code has looked."""
    seen = context.sandbox.observe(
        context.code, context.module, plan.text, beside=beside, hash_seed=hash_seed
    )
    late = {row.program for row in seen.rows if row.looked_earlier}
    return _judge_rows(plan, seen), [at for at in range(len(plan.programs)) if at in late]


def _judge_rows(plan: ProgramFile, seen: Observations) -> list[Judgement]:
    rows = {row.program: row for row in seen.rows}
    return [_judge(item, rows.get(at), seen) for at, item in enumerate(plan.programs)]


def _judge(program: Program, row: ObservedRow | None, seen: Observations) -> Judgement:
    found = _judge_row(program, row, seen)
    return replace(found, replaced=row.replaced if row else "")


def _judge_row(program: Program, row: ObservedRow | None, seen: Observations) -> Judgement:
    if row is None or not row.has_ended:
        has_crashed = _CRASHED in seen.error and _NO_MODULE not in seen.error
        outcome: Literal["differs", "unclear"] = "differs" if has_crashed else "unclear"
        return Judgement(outcome, program.line, seen.error or "was not run")
    payloads = {number: load(text) for number, text in reversed(row.observations)}
    own, line, reason = 0, 0, ""
    ambiguous: set[str] = set()
    count = len(program.expectations)
    for item in program.expectations:
        try:
            if not holds(item, payloads):
                return Judgement("differs", item.line, row.error or "", count, own)
        except AmbiguousError as error:
            own, line, reason = own + 1, item.line, str(error)
            ambiguous.add(error.name)
        except NoEvidenceError as error:
            own, line, reason = own + 1, item.line, str(error)
    if row.error is not None:
        return Judgement("differs", program.line, row.error, count, own)
    if row.looked:
        reason = f"{LOOKS_AT} {row.looked}, which differs in a sandbox"
        return Judgement("unclear", program.line, reason, count, count, has_looked=True)
    if own == count:
        return Judgement("unclear", line, reason, count, own, ambiguous=frozenset(ambiguous))
    return Judgement("agrees", answers=count, own=own, ambiguous=frozenset(ambiguous))
