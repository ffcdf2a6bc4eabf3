"""Accuracy of verdicts: right and wrong modules, each with tests from thorough to trivial.

    python bench/weak_tests.py [--only brackets,runs] [--mutants N|all] [--peers]

30 tasks in bench/weak_corpus, one file each: a right module, three subtly wrong ones, and four test
files that pass on the right one: thorough, medium, happy (one usual case), trivial (no assertion, or
one that always holds). Each pair is graded as `greenloop check` does it. Printed are: how often a
wrong module that passes its tests is `verified`, by the strength of the tests; how often a right one
with thorough tests is not, and why; and which pieces of evidence fell short. With `--peers` the
right module is the second implementation of each task: a pair on which both differ is not `verified`.
"""

from __future__ import annotations

import argparse
import ast
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from greenloop.grading import GradingContext, Plan, forgery, shortfalls
from greenloop.grading.grader import grade_run
from greenloop.grading.peer.comparison import PeerProgram, compare_programs
from greenloop.reporting.evidence.survivors import describe_fault
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.testsuite import TestFile

CORPUS = Path(__file__).parent / "weak_corpus"
STRENGTHS = ("thorough", "medium", "happy", "trivial")


@dataclass(frozen=True)
class Task:
    """Modules and test files as text; `wrong` is keyed by the kind of mistake."""

    name: str
    right: str
    wrong: dict[str, str]
    tests: dict[str, str]

    def test_file(self, strength: str) -> TestFile:
        names = [item.name for item in ast.parse(self.right).body if hasattr(item, "name")]
        head = f"import pytest\nfrom {self.name} import {', '.join(names)}\n\n"
        return TestFile(f"test_{self.name}.py", head + self.tests[strength])


@dataclass(frozen=True)
class Graded:
    """A pair that passes: its mutation score, and what else keeps it from `verified`."""

    strength: str
    wrong: str
    score: float
    others: tuple[str, ...]
    survivors: tuple[str, ...] = ()

    def is_verified(self, threshold: float) -> bool:
        return not self.others and self.score >= threshold


def tasks(only: str) -> Iterator[Task]:
    for path in sorted(CORPUS.glob("*.txt")):
        if only and path.stem not in only.split(","):
            continue
        pieces = re.split(r"^== (.*)\n", path.read_text("utf-8"), flags=re.MULTILINE)[1:]
        sections = dict(zip(pieces[::2], pieces[1::2], strict=True))
        wrong = {key[6:]: text for key, text in sections.items() if key.startswith("wrong ")}
        tests = {key: sections[key] for key in STRENGTHS}
        yield Task(path.stem, sections["right"], wrong, tests)


def grade_pair(box: Sandbox, task: Task, wrong: str, strength: str, plan: Plan) -> Graded | None:
    """Grade a pair; None if the tests do not pass."""
    code = task.wrong[wrong] if wrong else task.right
    files = [task.test_file(strength)]
    run = box.run_tests(code, files, module=task.name)
    if not run.passed:
        return None
    evidence = grade_run(GradingContext(box, code, files, task.name, run, plan))
    forged = forgery(evidence)
    found = [f"failed: {forged}"] if forged else list(shortfalls(evidence, contracted=False))
    others = tuple(item for item in found if not item.startswith("mutants: score"))
    mutation = evidence.mutation
    survived = mutation.survived if mutation else ()
    return Graded(
        strength,
        wrong,
        (mutation.score if mutation else None) or 0.0,
        others,
        tuple(f"{item.operator}: {describe_fault(item)}" for item in survived),
    )


def differs_from_peer(box: Sandbox, task: Task, found: Graded) -> Graded:
    """Compare a pair that would be `verified` with the right module."""
    if not found.wrong or found.others:
        return found
    seen = compare_programs(
        box,
        module=task.name,
        code=task.wrong[found.wrong],
        peer=PeerProgram(task.right, ""),
        interface="",
        specification="",
        tests=[task.test_file(found.strength)],
        examples=[],
        seed=task.name,
    )
    differs = bool(seen.differences or seen.slower)
    return replace(found, others=("peer: it answers differently",)) if differs else found


def print_failures(task: Task, found: Graded, threshold: float) -> None:
    """Print wrong modules that are `verified`, and right ones with thorough tests that are not."""
    of = f"{task.name}, {found.strength} tests, score {found.score:.2f}"
    if found.wrong and found.is_verified(threshold):
        print(f"{of}: verified, but {found.wrong}", flush=True)
    elif not found.wrong and found.strength == "thorough" and not found.is_verified(threshold):
        print(f"{of}: right, but not verified", *found.others, *found.survivors, sep="\n    ")


def by_strength(found: Sequence[Graded], wrong: int, threshold: float) -> None:
    head = ("tests", "right: verified", "wrong", "of these pass", "of these verified")
    print("\n{:10} {:>16} {:>7} {:>15} {:>19}".format(*head))
    for strength in STRENGTHS:
        mine = [item for item in found if item.strength == strength]
        right = [item for item in mine if not item.wrong]
        passing = [item for item in mine if item.wrong]
        good, bad = (sum(i.is_verified(threshold) for i in some) for some in (right, passing))
        share = f"{bad} ({bad / max(1, len(passing)):.0%})"
        verdicts = f"{good} of {len(right)}"
        print(f"{strength:10} {verdicts:>16} {wrong:7} {len(passing):15} {share:>19}")
    for strength in STRENGTHS:
        why: Counter[str] = Counter()
        for item in found:
            if item.wrong and item.strength == strength:
                why.update({other.partition(":")[0] for other in item.others})
                why["mutants"] += item.score < threshold
        said = ", ".join(f"{name} {count}" for name, count in why.most_common() if count)
        print(f"{strength}: wrong modules that pass are refused for: {said or 'nothing'}")


def by_threshold(found: Sequence[Graded]) -> None:
    """Print the effect of other mutation thresholds."""
    print("\nthreshold   right thorough   right medium   wrong verified")
    for threshold in (0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0):
        good = [item for item in found if item.is_verified(threshold)]
        right = Counter(item.strength for item in good if not item.wrong)
        wrong = sum(bool(item.wrong) for item in good)
        print(f"{threshold:9} {right['thorough']:16} {right['medium']:14} {wrong:16}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--mutants", default="100")
    parser.add_argument("--peers", action="store_true")
    chosen = parser.parse_args()
    plan = Plan(mutants=None if chosen.mutants == "all" else int(chosen.mutants))
    threshold = plan.thresholds.mutation_score
    found: list[Graded] = []
    started, wrong = time.monotonic(), 0
    with open_sandbox() as box:
        print(f"{box.info.backend}; {plan.thresholds}\n")
        for task in tasks(chosen.only):
            wrong += len(task.wrong)
            for strength, module in product(STRENGTHS, ["", *task.wrong]):
                one = grade_pair(box, task, module, strength, plan)
                if one:
                    one = differs_from_peer(box, task, one) if chosen.peers else one
                    print_failures(task, one, threshold)
                    found.append(one)
                elif not module:
                    print(f"{task.name}: the right module does not pass its {strength} tests")
    by_strength(found, wrong, threshold)
    by_threshold(found)
    print(f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
