"""Time of a grade as modules and test files grow: it should be linear in what is tried.

    python bench/grade.py [--lines 50,150,500,1000,2000] [--tests 10,100,300,1000] [--ms 5]
                          [--mutants 100]

Each module repeats a function under other names, and each test takes
`--ms` of CPU. The first rows grow the module with the fewest tests, the next the tests with the
smallest module; the last has 1,000 lines and 300 tests.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from greenloop.grading.context import GradingContext, Plan
from greenloop.grading.grader import grade_run
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.testsuite import TestFile

FUNCTION = """

def fold_{n}(values, limit={n}):
    total = 0
    for value in values:
        if value > limit:
            total += value - limit
        elif value < 0:
            total -= 1
    return total
"""
TEST = """

def test_fold_{t}():
    spin()
    assert grown.fold_{n}([{n} + {t}, -1, 0]) == {want}
"""
SPIN = """import time

import grown


def spin():
    end = time.thread_time() + {ms} / 1000
    while time.thread_time() < end:
        pass
"""


def functions(lines: int) -> int:
    return max(1, lines // FUNCTION.count("\n"))


def module(lines: int) -> str:
    return '"""Folds."""\n' + "".join(FUNCTION.format(n=n) for n in range(functions(lines)))


def tests(count: int, lines: int, ms: float) -> str:
    """Return as many tests, of the functions in turn."""
    number = functions(lines)
    each = (TEST.format(t=t, n=t % number, want=t - 1) for t in range(count))
    return SPIN.format(ms=ms) + "".join(each)


def sizes(lines: list[int], counts: list[int]) -> Iterator[tuple[int, int]]:
    yield from ((length, counts[0]) for length in lines)
    yield from ((lines[0], count) for count in counts[1:])
    yield 1000, 300


def measure(box: Sandbox, lines: int, count: int, ms: float, mutants: int) -> None:
    code = module(lines)
    files = [TestFile("test_grown.py", tests(count, lines, ms))]
    run = box.run_tests(code, files, module="grown")
    assert run.passed, run
    started = time.monotonic()
    evidence = grade_run(GradingContext(box, code, files, "grown", run, Plan(mutants=mutants)))
    wall_s = time.monotonic() - started
    tried = evidence.mutation.sampled if evidence.mutation else 0
    slowest = sorted(evidence.seconds.items(), key=lambda item: -item[1])[:3]
    parts = ", ".join(f"{name} {seconds:.1f}" for name, seconds in slowest)
    print(f"{lines:6} {count:6} {wall_s:8.2f}s {tried:8}  {parts}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", default="50,150,500,1000,2000")
    parser.add_argument("--tests", default="10,100,300,1000")
    parser.add_argument("--ms", type=float, default=5)
    parser.add_argument("--mutants", type=int, default=100)
    chosen = parser.parse_args()
    lines, counts = ([int(n) for n in given.split(",")] for given in (chosen.lines, chosen.tests))
    print(f"{'lines':>6} {'tests':>6} {'grade':>9} {'mutants':>8}  slowest pieces, seconds")
    with open_sandbox() as box:
        for length, count in sizes(lines, counts):
            measure(box, length, count, chosen.ms, chosen.mutants)


if __name__ == "__main__":
    main()
