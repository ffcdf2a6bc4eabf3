"""How many faults put into a module on purpose do its tests notice?

What the score is worth. It says how sharp the tests are on this module, provided the module is
honest. Mutants run in the process of their own code, so code that is made for it can raise its
score: it can find out that it was changed (by the code of its own functions, by reading its
file, by what it remembers) and fail on purpose, or end its process; it can write to the pipe that
its verdict goes through. The other way, a survivor, is nothing that it would gain by. So a high
score stands only beside the evidence that is not in the code's hand: hollow run, sealed examples,
integrity.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.grading.mutation.generator import mutants
from greenloop.grading.mutation.mutant import Mutant
from greenloop.grading.mutation.sampling import sample
from greenloop.records import Mutation, Survivor, TriedMutant
from greenloop.sandbox import Sandbox
from greenloop.sandbox.work.mutants import MutantRun, MutantRuns, Splice
from greenloop.testsuite import TestFile
from greenloop.testsuite.module_under_test import tested_module

_NOTICED = ("killed", "timeout", "crashed")
_UNNOTICED = ("survived", "uncovered")
_SHOWN = 200  # characters of a change


def mutation(
    box: Sandbox,
    code: str,
    tests: str | Sequence[TestFile],
    *,
    module: str | None = None,
    most: int | None = None,
    seed: int = 0,
    budget_s: float = 60.0,
) -> Mutation:
    """Tries the mutants of a module against tests that pass on it.

    At most `most` of them (None: all), chosen by `seed`, for at most `budget_s` seconds. The same
    arguments give the same record but for its `seconds`, as long as the time is enough.

    Raises:
        SandboxError: the sandbox cannot run anything.
    """
    if isinstance(tests, str):
        module = module or tested_module(tests, box.packages.imports)
        tests = [TestFile(f"test_{module}.py", tests)]
    module = module or tested_module(tests[0].code, box.packages.imports)
    try:
        found = mutants(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Mutation(score=None, killed=0, trouble=f"the code cannot be read: {error}")
    faults = [item for item in found if not item.equivalent_suspect]
    chosen = tuple(faults) if most is None else sample(faults, most, seed)
    if not chosen:
        return Mutation(
            score=None,
            killed=0,
            equivalent_suspects=len(found),
            generated=len(found),
            trouble="the module has nothing that a mutant could change",
        )
    tried = box.run_mutants(
        code, tests, [_splice(item) for item in chosen], module=module, budget_s=budget_s
    )
    return _record(chosen, tried, f"{module}.py", code).model_copy(
        update={
            "generated": len(found),
            "equivalent_suspects": len(found) - len(faults),
            "seed": seed,
        }
    )


def _splice(item: Mutant) -> Splice:
    return Splice(item.start, item.end, item.mutated, item.unit, item.statement)


def _record(chosen: Sequence[Mutant], tried: MutantRuns, name: str, code: str) -> Mutation:
    outcomes = [run.outcome for run in tried.runs]
    noticed = sum(outcome in _NOTICED for outcome in outcomes)
    survived = tuple(
        _survivor(item, run, item.diff(name, code))
        for item, run in zip(chosen, tried.runs, strict=True)
        if run.outcome in _UNNOTICED
    )
    trouble = _trouble(outcomes, tried.trouble)
    return Mutation(
        score=None if trouble else round(noticed / (noticed + len(survived)), 4),
        killed=outcomes.count("killed"),
        survived=survived,
        timeout=outcomes.count("timeout"),
        crashed=outcomes.count("crashed"),
        errors=outcomes.count("error"),
        not_run=outcomes.count("not_run"),
        sampled=len(chosen),
        seconds=round(tried.seconds, 3),
        trouble=trouble,
        tried=tuple(map(_tried, chosen, tried.runs)),
    )


def _tried(item: Mutant, run: MutantRun) -> TriedMutant:
    return TriedMutant(
        id=item.id,
        line=item.line,
        operator=item.operator,
        before=item.original[:_SHOWN],
        after=item.mutated[:_SHOWN],
        outcome=run.outcome,
        test=run.test,
    )


def _trouble(outcomes: Sequence[str], said: str) -> str:
    """Why there is no score; '' where every mutant has its outcome."""
    count = len(outcomes)
    done = count - outcomes.count("not_run") - outcomes.count("error")
    if done == count:
        return ""
    why = said or "the time for them was over"
    if outcomes.count("error") and not said:
        why = f"{outcomes.count('error')} could not be tried"
    return f"{done} of {count} were tried: {why}"


def _survivor(item: Mutant, run: MutantRun, diff: str) -> Survivor:
    return Survivor(
        id=item.id,
        line=item.line,
        function=item.function,
        operator=item.operator,
        diff=diff,
        question=item.question,
        reached=run.outcome == "survived",
    )
