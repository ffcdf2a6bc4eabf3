"""How much one-fault modules are repaired by search, without a model. One run, one command.

    python bench/repair.py [--seconds S] [--half tuned|held-out] [--only NAME] [--verbose]

The corpus is bench/repair_corpus (see its README). A patch is plausible where all tests pass. The
first patch is right where it is the original again (the same syntax tree), or answers held-out
calls as the original does; both are told apart.
"""

from __future__ import annotations

import argparse
import ast
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from greenloop.records import Expectation, SearchResult
from greenloop.repair import search_patches
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.testsuite import TestFile

CORPUS = Path(__file__).parent / "repair_corpus"
PARTS = re.compile(r"=== code\n(.*?)=== tests\n(.*?)=== faults\n(.*?)=== calls\n(.*)", re.DOTALL)
MEMORY_MB, TEST_S = 512, 6.0


@dataclass(frozen=True)
class Fault:
    """One fault: the correct module, the faulty one, and the tests and calls that judge repairs."""

    name: str
    kind: str
    held_out: bool
    code: str
    faulty: str
    tests: str
    calls: tuple[str, ...]

    @property
    def module(self) -> str:
        return self.name.partition("/")[0]


@dataclass(frozen=True)
class Outcome:
    """Result for one fault. `rank` is that of the first patch that is right (0: none)."""

    fault: Fault
    found: SearchResult
    seconds: float
    same: bool = False
    right: bool = False
    rank: int = 0


def faults() -> Iterator[Fault]:
    for number, path in enumerate(sorted(CORPUS.glob("*.case"))):
        match = PARTS.fullmatch(path.read_text("utf-8"))
        if match is None:
            raise SystemExit(f"{path} has not its four parts")
        code, tests, table, calls = match.groups()
        for place, block in enumerate(re.split(r"^--- ", table, flags=re.MULTILINE)[1:], 1):
            kind, _, lines = block.partition("\n")
            old, new = (_side(lines, sign) for sign in "-+")
            if code.count(old) != 1:
                raise SystemExit(f"{path}, {kind} {place}: not once in the code:\n{old}")
            faulty = code.replace(old, new)
            name = f"{path.stem}/{place}"
            asked = tuple(item for item in calls.splitlines() if item.strip())
            yield Fault(name, kind, number % 2 == 1, code, faulty, tests, asked)


def _side(lines: str, sign: str) -> str:
    return "\n".join(line[1:] for line in lines.splitlines() if line.startswith(sign))


def measure(box: Sandbox, fault: Fault, seconds: float) -> Outcome:
    tests = [TestFile(f"test_{fault.module}.py", fault.tests)]
    healthy = box.run_tests(fault.code, tests, module=fault.module)
    if not healthy.passed:
        raise SystemExit(f"{fault.name}: the tests do not pass on the correct module: {healthy}")
    expected = Expectation(ids=frozenset(item.id for item in healthy.tests))
    red = box.run_tests(fault.faulty, tests, module=fault.module, expected=expected)
    if red.passed:
        raise SystemExit(f"{fault.name}: the tests do not notice the fault")
    started = time.monotonic()
    found = search_patches(
        box, fault.faulty, tests, fault.module, run=red, expected=expected, seconds=seconds
    )
    outcome = Outcome(fault, found, time.monotonic() - started)
    if not found.patches:
        return outcome
    wanted = box.evaluate_calls(fault.code, fault.module, fault.calls).events
    right = [
        box.evaluate_calls(item.code, fault.module, fault.calls).events == wanted
        for item in found.patches
    ]
    same = ast.dump(ast.parse(found.patches[0].code)) == ast.dump(ast.parse(fault.code))
    rank = right.index(True) + 1 if any(right) else 0
    return replace(outcome, same=same, right=same or right[0], rank=rank)


def show(title: str, outcomes: Sequence[Outcome]) -> None:
    if not outcomes:
        return
    count = len(outcomes)
    plausible = sum(bool(item.found.patches) for item in outcomes)
    same = sum(item.same for item in outcomes)
    right = sum(item.right for item in outcomes)
    listed = sum(item.rank > 0 for item in outcomes)
    times = sorted(item.seconds for item in outcomes)
    late = times[min(count - 1, int(0.9 * count))]
    print(
        f"{title:10} {count:4} faults: plausible {plausible / count:4.0%}, first patch the original"
        f" again {same / count:4.0%}, first patch right {right / count:4.0%}, a right one listed"
        f" {listed / count:4.0%}; median {statistics.median(times):.1f} s, 90th percentile {late:.1f} s"
    )


def tell(outcome: Outcome) -> None:
    found = outcome.found
    how = (
        "same"
        if outcome.same
        else "right" if outcome.right else "WRONG" if found.patches else "none"
    )
    first = found.patches[0].change if found.patches else ""
    print(
        f"{outcome.fault.name:14} {outcome.fault.kind:26} {how:6} rank {outcome.rank} of"
        f" {len(found.patches)}, {found.tried}/{found.generated} tried, {outcome.seconds:.1f} s,"
        f" {found.ended}; {first}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--half", choices=["tuned", "held-out"])
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    chosen = parser.parse_args()
    settings = Settings.model_construct(timeout_s=TEST_S, memory_mb=MEMORY_MB)
    outcomes: list[Outcome] = []
    with open_sandbox(settings) as box:
        for fault in faults():
            if chosen.only not in fault.name:
                continue
            if chosen.half and fault.held_out != (chosen.half == "held-out"):
                continue
            outcomes.append(measure(box, fault, chosen.seconds))
            if chosen.verbose:
                tell(outcomes[-1])
    show("tuned", [item for item in outcomes if not item.fault.held_out])
    show("held-out", [item for item in outcomes if item.fault.held_out])
    show("all", outcomes)


if __name__ == "__main__":
    main()
