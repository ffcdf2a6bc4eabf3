"""Share of test files whose results can be observed in isolated runs, and the cost of that.

    python bench/isolation.py [pairs] [weak] [examples] [real[:PACKAGE,...]] [--rounds N]

`pairs`: modules with tests as models write them (tests/fixtures/module_corpus); `weak`: the thorough
tests of bench/weak_corpus; `examples`: what the recorded answers in examples/ lead to; `real`: test
files that people wrote, of packages on PyPI (see bench/real_tests.py; pip fetches them each time).
Printed for each file: tests that agree of all tests, differences (on right code each is an error of
greenloop), the processor time of observing and judging, and of planning, divided by that of the
shared run (the least of the rounds, sandbox open); for each corpus the reasons by frequency.
Processor time is that of a control group where one can be made (as root, with `cpuacct`), else that
of the whole machine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from real_tests import PACKAGES, real_files  # noqa: E402
from sandbox import machine_cpu  # noqa: E402
from weak_tests import tasks  # noqa: E402

from greenloop.agent import CodingAgent  # noqa: E402
from greenloop.app.inputs.specification import read_specification  # noqa: E402
from greenloop.errors import GreenloopError  # noqa: E402
from greenloop.grading import GradingContext  # noqa: E402
from greenloop.grading.observation.isolation import measure, plan_programs  # noqa: E402
from greenloop.records import Isolated, TestRun  # noqa: E402
from greenloop.sandbox import Sandbox, open_sandbox  # noqa: E402
from greenloop.settings import Settings  # noqa: E402
from greenloop.testsuite import TestFile  # noqa: E402
from tests.support.module_corpus import Pair, pairs  # noqa: E402

_HALF = 0.5
GROUP = Path(f"/sys/fs/cgroup/cpuacct/isolation-{os.getpid()}")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Result:
    """Result for a file; `ratio` and `planning` are CPU time divided by that of the shared run."""

    found: Isolated
    ratio: float
    planning: float

    @property
    def reaches_half(self) -> bool:
        return 0 < self.found.tests <= self.found.agreed / _HALF


def weak() -> Iterator[Pair]:
    for task in tasks(""):
        yield Pair(task.name, task.right, task.test_file("thorough").code)


def examples() -> Iterator[Pair]:
    """Yield the code and the tests to which the recorded answers lead."""
    for path in sorted((ROOT / "examples").glob("*.jsonl")):
        with tempfile.TemporaryDirectory() as home:
            settings = Settings(home=Path(home), model=f"replay:{path}", timeout_s=10, mutants=0)
            text = read_specification(str(path.with_suffix(".md"))).text
            try:
                report = asyncio.run(CodingAgent(settings).run(text))
            except GreenloopError as error:  # a busy machine: other tests than recorded can hang
                print(f"{path.name}: {error}")
                continue
        if report.contract is not None:
            yield Pair(report.contract.module, report.final_code, report.test_code)


def real(packages: Sequence[str]) -> Iterator[Pair]:
    with tempfile.TemporaryDirectory() as folder:
        for item in real_files(packages, Path(folder)):
            yield Pair(item.module, item.code, item.tests)


def read_cpu() -> float:
    """Return the processor seconds of this process and all that it started."""
    usage = GROUP / "cpuacct.usage"
    return int(usage.read_text()) / 1e9 if usage.exists() else machine_cpu()


def measure_cpu(work: Callable[[], _T]) -> tuple[_T, float]:
    started = read_cpu()
    return work(), read_cpu() - started


def enter_group() -> None:
    with contextlib.suppress(OSError):
        GROUP.mkdir()
        (GROUP / "cgroup.procs").write_text(str(os.getpid()))


def measure_pair(box: Sandbox, pair: Pair, rounds: int) -> Result | TestRun:
    """Return what isolation finds; the test run where that does not pass."""
    files = [TestFile(f"test_{pair.name}.py", pair.tests)]
    shared, apart, planning = [], [], []
    for _ in range(rounds):
        run, seconds = measure_cpu(lambda: box.run_tests(pair.code, files, module=pair.name))
        shared.append(seconds)
        if not run.passed:
            return run
        context = GradingContext(box, pair.code, files, pair.name, run)
        planning.append(measure_cpu(partial(plan_programs, context, files[0]))[1])
        found, seconds = measure_cpu(partial(measure, context))
        apart.append(seconds)
    if isinstance(found, str):
        found = Isolated(reached=False, tests=0, observed=0, agreed=0)
    return Result(found, min(apart) / min(shared), min(planning) / min(shared))


def describe(result: Result | TestRun) -> str:
    if isinstance(result, TestRun):
        first = [f"{item.exception}: {item.message}" for item in result.failures]
        return f"does not pass: {' '.join((first or [result.detail])[0].split())[:90]}"
    found = result.found
    text = f"{found.agreed:4} of {found.tests:<4}{result.ratio:6.2f}{result.planning:6.2f}"
    text += f"  {found.own_answers} of {found.answers} answers own" if found.own_answers else ""
    return text + (f"  DIFFERS {', '.join(found.differing)}" if found.differing else "")


def report(title: str, box: Sandbox, corpus: Iterator[Pair], rounds: int) -> None:
    """Print a line for each file, the sums, and the reasons."""
    results: list[Result] = []
    print(f"{title:32}{'agree':>12}{'CPU':>6}{'plan':>6}")
    for pair in corpus:
        result = measure_pair(box, pair, rounds)
        print(f"{pair.name:32}{describe(result)}", flush=True)
        if isinstance(result, Result):
            results.append(result)
    found = [item.found for item in results]
    half = sum(item.reaches_half for item in results)
    tests, agreed = sum(item.tests for item in found), sum(item.agreed for item in found)
    differing = sum(len(item.differing) for item in found)
    shown = sum(not item.explain_own_answers() for item in found)
    ratio = statistics.median(item.ratio for item in results) if results else 0
    planning = statistics.median(item.planning for item in results) if results else 0
    print(
        f"{title}: {half} of {len(results)} files reach the half, {shown} lean on the code in less than half of their answers"
    )
    print(f"{title}: {agreed} of {tests} tests agree, {differing} differ")
    print(f"{title}: CPU by the shared run's: median {ratio:.2f}, and {planning:.2f} for planning")
    reasons = Counter(refused.reason for item in found for refused in item.not_observable)
    for reason, count in reasons.most_common(40):
        print(f"{count:6}  {reason[:110]}")
    print()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("corpora", nargs="*", default=["pairs", "weak", "examples"])
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    made = {"pairs": lambda: iter(pairs()), "weak": weak, "examples": examples}
    enter_group()
    with open_sandbox(Settings(timeout_s=20)) as box:
        print(f"{box.info.backend}; least of {options.rounds} rounds\n")
        for title in options.corpora:
            name, _, packages = title.partition(":")
            chosen = packages.split(",") if packages else PACKAGES
            report(name, box, real(chosen) if name == "real" else made[name](), options.rounds)


if __name__ == "__main__":
    main()
