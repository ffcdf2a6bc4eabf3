"""What a mutant costs: in the sandbox, and as one pytest process each. One run, one command.

    python bench/mutants.py [--sample N] [--sandbox auto|process|…]

On the code and tests that the recorded examples end with, and on a made-up module of 300 lines.
Per module: mutants, score, mutants per second (wall and CPU), the same for plain pytest processes
on a sample, the ratios, and whether both came to the same verdict on each mutant of the sample.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from greenloop import GreenloopError, run_coding_agent
from greenloop.grading.mutation import Mutant, generate_mutants, sample_mutants
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.work.trials.runs import MutantRuns
from greenloop.testsuite import TestFile
from greenloop.testsuite.module_under_test import find_tested_module

EXAMPLES = Path(__file__).parents[1] / "examples"
BUDGET_S, PLAIN_S = 120.0, 30.0
UNNOTICED, UNTRIED = ("survived", "uncovered"), ("error", "not_run")


@dataclass(frozen=True)
class Case:
    name: str
    code: str
    tests: str


@dataclass(frozen=True)
class Cost:
    """Seconds for one mutant."""

    wall_s: float
    cpu_s: float


def examples() -> Iterator[Case]:
    for recorded in sorted(EXAMPLES.glob("*.jsonl")):
        text = recorded.with_suffix(".md").read_text("utf-8")
        with tempfile.TemporaryDirectory() as folder:
            try:
                report = run_coding_agent(text, model=f"replay:{recorded}", home=Path(folder))
            except GreenloopError as error:  # a machine so slow that a run met its time limit
                print(f"{recorded.stem}: left out: {error}")
                continue
        if report["tests_passed"]:
            yield Case(recorded.stem, report["final_code"], report["test_code"])


def synthetic() -> Case:
    """Return a case of 300 lines, 30 functions, 60 tests, without slow code or endless loops."""
    code, tests = ["LIMIT = 7\n"], ["import pytest\nimport made_up\n"]
    for n in range(30):
        code.append(
            f"def step_{n}(values, low={n}, *, high=LIMIT):\n"
            f"    if low > high + {n}:\n"
            f'        raise ValueError("low is above high")\n'
            f"    total = 0\n"
            f"    for value in values:\n"
            f"        if low <= value < low + high:\n"
            f"            total += value * {n + 1}\n"
            f"    return total - low\n\n"
        )
        tests.append(
            f"def test_sum_{n}():\n"
            f"    assert made_up.step_{n}([{n}, {n + 1}, 500]) == {(2 * n + 1) * (n + 1) - n}\n\n"
            f"def test_error_{n}():\n"
            f"    with pytest.raises(ValueError):\n"
            f"        made_up.step_{n}([], 99)\n"
        )
    return Case("synthetic (300 lines)", "\n".join(code), "\n".join(tests))


def in_sandbox(box: Sandbox, case: Case, chosen: tuple[Mutant, ...]) -> MutantRuns:
    module = find_tested_module(case.tests, ())
    splices = [item.edit for item in chosen]
    files = [TestFile(f"test_{module}.py", case.tests)]
    return box.run_mutants(case.code, files, splices, module=module, budget_s=BUDGET_S)


def in_processes(case: Case, chosen: tuple[Mutant, ...]) -> tuple[list[bool], Cost]:
    """Return for each mutant whether it was noticed, and the mean cost."""
    before, started = read_cpu_used(), time.monotonic()
    noticed = [fails(case, mutant) for mutant in chosen]
    wall_s, count = time.monotonic() - started, max(1, len(chosen))
    return noticed, Cost(wall_s / count, (read_cpu_used() - before) / count)


def fails(case: Case, mutant: Mutant) -> bool:
    module = find_tested_module(case.tests, ())
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"{module}.py").write_text(mutant.edit.apply_to(case.code), "utf-8")
        Path(folder, f"test_{module}.py").write_text(case.tests, "utf-8")
        environment = {
            **os.environ,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONHASHSEED": "0",
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        try:
            ended = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, timeout=PLAIN_S
            )
        except subprocess.TimeoutExpired:
            return True
    return ended.returncode != 0


def read_cpu_used() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def measure(box: Sandbox, case: Case, size: int) -> tuple[float, float]:
    """Print one line; return the ratios of wall and CPU time."""
    chosen = tuple(item for item in generate_mutants(case.code) if not item.equivalence_reason)
    runs = in_sandbox(box, case, chosen)
    pairs = [pair for pair in zip(chosen, runs.runs, strict=True) if pair[1].outcome not in UNTRIED]
    chosen = tuple(item for item, _ in pairs)
    outcomes = {item.id: run.outcome not in UNNOTICED for item, run in pairs}
    few = sample_mutants(chosen, size, 0)
    noticed, plain = in_processes(case, few)
    ours = Cost(runs.seconds / len(chosen), runs.cpu_s / len(chosen))
    others = [m.id for m, seen in zip(few, noticed, strict=True) if outcomes[m.id] != seen]
    wall, cpu = plain.wall_s / ours.wall_s, plain.cpu_s / max(ours.cpu_s, 1e-9)
    score = sum(outcomes.values()) / len(chosen)
    print(
        f"{case.name:24} {case.code.count(chr(10)):5} {len(chosen):8} {score:6.0%}"
        f" {1 / ours.wall_s:7.0f}/s {1 / max(ours.cpu_s, 1e-9):7.0f}/s {1 / plain.wall_s:7.2f}/s"
        f" {wall:7.0f}x {cpu:7.0f}x   {len(few) - len(others)}/{len(few)}"
        f"{' ' + runs.error if runs.error else ''}{' ' + ', '.join(others) if others else ''}"
    )
    return wall, cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=15)
    parser.add_argument("--sandbox", default="auto")
    chosen = parser.parse_args()
    names = ("module", "lines", "mutants", "score", "wall", "CPU", "plain", "wall", "CPU", "agree")
    print("{:24} {:>5} {:>8} {:>6} {:>9} {:>9} {:>9} {:>8} {:>8}   {}".format(*names))
    with ProcessSandbox() if chosen.sandbox == "process" else open_sandbox() as box:
        ratios = [measure(box, case, chosen.sample) for case in [synthetic(), *examples()]]
    for kind, values in zip(("wall", "CPU"), zip(*ratios, strict=True), strict=True):
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"geometric mean of the ratios, {kind}: {mean:.0f}x")


if __name__ == "__main__":
    main()
