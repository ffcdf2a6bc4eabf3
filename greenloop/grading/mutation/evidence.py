"""Mutation score: the share of a module's mutants that its tests notice.

The score measures the tests, provided that the module is honest. Dishonest code can raise its own
score, because it runs in the same process as its mutants: it can detect that it was changed (by its
functions' code objects, by its file, by state that it keeps), and then fail on purpose, end its
process, or write to the pipe that carries its verdict. A survivor never helps the code. So a high
score counts only together with evidence that the code cannot influence: empty bodies, held-out
examples, integrity.
"""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from greenloop.grading.mutation.generator import generate_mutants, sample_mutants
from greenloop.grading.mutation.mutant import Mutant
from greenloop.records import MutantResult, Mutation, Survivor
from greenloop.sandbox import Sandbox
from greenloop.sandbox.work.trials.runs import BaselineResult, MutantRun, MutantRuns
from greenloop.syntax.parse import PARSE_ERRORS, UNREADABLE
from greenloop.testsuite import TestFile
from greenloop.testsuite.module_under_test import find_tested_module

_DETECTED_OUTCOMES = ("killed", "timeout", "crashed")
_SURVIVING_OUTCOMES = ("survived", "uncovered")
_MIN_SAMPLE = 20  # mutants tried in time; fewer are no sample but an incomplete run
_MAX_SHOWN_CHARS = 200  # characters of a change


def measure_mutation(
    sandbox: Sandbox,
    code: str,
    tests: str | Sequence[TestFile],
    *,
    module: str | None = None,
    max_mutants: int | None = None,
    seed: int = 0,
    budget_s: float = 60.0,
    lines: Collection[int] | None = None,
    lanes: int | None = None,
    known: Sequence[BaselineResult] = (),
) -> Mutation:
    """Try the mutants of a module, or of some of its lines, against tests that pass on it.

    At most `max_mutants` are tried (None: all), chosen by `seed`, in random order, for at most
    `budget_s` CPU seconds in each process. If time runs out, the mutants tried are a smaller sample;
    else the same arguments give the same record except for its `seconds`. `lanes` is the number of
    processes (None: one per core). Baselines of tests in `known` are not measured again.
    Raises SandboxError: the sandbox cannot run anything.
    """
    if isinstance(tests, str):
        module = module or find_tested_module(tests, sandbox.packages.import_names)
        tests = [TestFile(f"test_{module}.py", tests)]
    module = module or find_tested_module(tests[0].code, sandbox.packages.import_names)
    try:
        generated = generate_mutants(code)
    except PARSE_ERRORS:
        return Mutation(score=None, killed=0, trouble=UNREADABLE)
    found = [item for item in generated if lines is None or item.line in lines]
    faults = [item for item in found if not item.equivalence_reason]
    chosen = tuple(faults) if max_mutants is None else sample_mutants(faults, max_mutants, seed)
    if not chosen:
        return _build_empty_record(len(found))
    order = random.Random(seed).sample(range(len(chosen)), len(chosen))
    edits = [chosen[number].edit for number in order]
    tried = sandbox.run_mutants(
        *(code, tests, edits), module=module, budget_s=budget_s, lanes=lanes, known=known
    )
    runs = dict(zip(order, tried.runs, strict=True))
    kept = _choose_sample(runs, max_mutants if not tried.error else None)
    tried = replace(tried, runs=tuple(runs[number] for number in kept))
    chosen = tuple(chosen[number] for number in kept)
    return _build_record(chosen, tried, f"{module}.py", code).model_copy(
        update={
            "generated": len(found),
            "equivalent_suspects": len(found) - len(faults),
            "seed": seed,
        }
    )


def _build_empty_record(count: int) -> Mutation:
    """Return the record of a module whose mutants are all probably equivalent."""
    why = "the module has nothing that a mutant could change"
    return Mutation(score=None, killed=0, equivalent_suspects=count, generated=count, trouble=why)


def _choose_sample(runs: Mapping[int, MutantRun], max_mutants: int | None) -> list[int]:
    """Return the numbers of the mutants that count, in order: of a sample, those tried in time."""
    done = sorted(number for number, run in runs.items() if run.outcome != "not_run")
    return sorted(runs) if max_mutants is None or len(done) < _MIN_SAMPLE else done


def _build_record(chosen: Sequence[Mutant], runs: MutantRuns, name: str, code: str) -> Mutation:
    outcomes = [run.outcome for run in runs.runs]
    detected = sum(outcome in _DETECTED_OUTCOMES for outcome in outcomes)
    survivors = tuple(
        _build_survivor(item, run, item.to_unified_diff(name, code))
        for item, run in zip(chosen, runs.runs, strict=True)
        if run.outcome in _SURVIVING_OUTCOMES
    )
    trouble = _describe_incomplete_run(outcomes, runs.error)
    return Mutation(
        score=None if trouble else round(detected / (detected + len(survivors)), 4),
        killed=outcomes.count("killed"),
        survived=survivors,
        timeout=outcomes.count("timeout"),
        crashed=outcomes.count("crashed"),
        errors=outcomes.count("error"),
        not_run=outcomes.count("not_run"),
        sampled=len(chosen),
        seconds=round(runs.seconds, 3),
        trouble=trouble,
        tried=tuple(map(_build_tried_mutant, chosen, runs.runs)),
    )


def _build_tried_mutant(mutant: Mutant, run: MutantRun) -> MutantResult:
    return MutantResult(
        id=mutant.id,
        line=mutant.line,
        operator=mutant.operator,
        before=mutant.original[:_MAX_SHOWN_CHARS],
        after=mutant.edit.text[:_MAX_SHOWN_CHARS],
        outcome=run.outcome,
        test=run.test,
    )


def _describe_incomplete_run(outcomes: Sequence[str], error: str) -> str:
    """Return why there is no score; '' if every mutant has its outcome."""
    count = len(outcomes)
    done = count - outcomes.count("not_run") - outcomes.count("error")
    if done == count:
        return ""
    why = error or "out of time"
    if outcomes.count("error") and not error:
        why = f"{outcomes.count('error')} could not be tried"
    return f"{done} of {count} were tried: {why}"


def _build_survivor(mutant: Mutant, run: MutantRun, diff: str) -> Survivor:
    return Survivor(
        id=mutant.id,
        line=mutant.line,
        function=mutant.function,
        operator=mutant.operator,
        before=mutant.change[0],
        after=mutant.change[1],
        diff=diff,
        reached=run.outcome == "survived",
    )
