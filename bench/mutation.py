"""Mutation testing from the shell: greenloop, mutmut and cosmic-ray on the same five modules.

    python bench/mutation.py [--rounds 3] [--modules texts,stock] [--cosmic 20] [--single]

mutmut (3.x) and cosmic-ray are installed into a temporary venv from the package registry; they
are no part of the product. The tools take turns, module by module. Each has its default of
processes side by side; with --single also one (mutmut --max-children 1, greenloop on one core).
cosmic-ray has only the one; of its mutants `--cosmic` are tried, spread over the module (0: it is left out).
Times are of the whole command, and for greenloop also without its start, as in a check, where
the sandbox is open. Scores cannot be compared: each tool makes other mutants. Last: a whole grade.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from mutation_tools import CORPUS, Ran, Tool, cosmic_ray, greenloop, install, mutmut, run_timed

from greenloop.grading import grade
from greenloop.sandbox import open_sandbox

OURS, THEIRS = "greenloop", "mutmut"
OURS_ALONE, THEIRS_ALONE = "greenloop, 1 core", "mutmut, 1 child"


def tools(venv: Path, cosmic: int, single: bool) -> dict[str, Tool]:
    found: dict[str, Tool] = {OURS: greenloop, THEIRS: partial(mutmut, venv=venv)}
    if single:
        found[OURS_ALONE] = partial(greenloop, cores=1)
        found[THEIRS_ALONE] = partial(mutmut, venv=venv, most=1)
    return found | ({"cosmic-ray": partial(cosmic_ray, venv=venv, most=cosmic)} if cosmic else {})


def measure(name: str, given: dict[str, Tool], rounds: int) -> dict[str, list[Ran]]:
    """Run each tool once in a round, in turn."""
    runs: dict[str, list[Ran]] = {label: [] for label in given}
    for _ in range(rounds):
        for label, tool in given.items():
            with tempfile.TemporaryDirectory() as folder:
                runs[label].append(tool(name, Path(folder)))
    return runs


def median(runs: Sequence[Ran], what: str) -> float:
    found: float = statistics.median(getattr(run, what) for run in runs)
    return found


def show(name: str, found: dict[str, list[Ran]]) -> None:
    for label, runs in found.items():
        wall_s, cpu_s, count = median(runs, "wall_s"), median(runs, "cpu_s"), runs[0].mutants
        inner = ""
        if runs[0].inner_s:
            inner = f"{count / median(runs, 'inner_s'):7.1f}/s {count / median(runs, 'inner_cpu_s'):7.1f}/s"
        print(
            f"{name:10} {label:18} {count:7} {runs[0].score:6.0%} {runs[0].timeouts:5}"
            f" {wall_s:7.2f}s {cpu_s:7.2f}s {count / wall_s:7.1f}/s {count / cpu_s:7.1f}/s {inner}",
            flush=True,
        )


def ratios(name: str, found: dict[str, list[Ran]], ours: str, theirs: str) -> list[float]:
    """Return the ratios of mutants per second: wall, CPU, and both without the start of ours."""
    mine, other = found[ours], found[theirs]
    share = mine[0].mutants / other[0].mutants
    values = [
        share * median(other, "wall_s") / median(mine, "wall_s"),
        share * median(other, "cpu_s") / median(mine, "cpu_s"),
        share * median(other, "wall_s") / median(mine, "inner_s"),
        share * median(other, "cpu_s") / median(mine, "inner_cpu_s"),
    ]
    print(f"{name:10} {ours} : {theirs}: wall {values[0]:.1f}x, CPU {values[1]:.1f}x,", end=" ")
    print(f"without our start {values[2]:.1f}x, CPU {values[3]:.1f}x", flush=True)
    return values


def mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def whole_grade(name: str, rounds: int) -> None:
    """Print the times of a check from the shell, and of the grade alone in an open sandbox."""
    code, tests = CORPUS / f"{name}.py", CORPUS / f"test_{name}.py"
    command = [sys.executable, "-m", "greenloop", "check", str(code), str(tests)]
    with tempfile.TemporaryDirectory() as folder, open_sandbox() as box:
        checks = [run_timed(command, Path(folder))[:2] for _ in range(rounds)]
        grades = []
        for _ in range(rounds):
            evidence = grade(box, code.read_text("utf-8"), tests.read_text("utf-8"))
            grades.append(evidence.seconds)
    text = code.read_text("utf-8")
    wall_s, cpu_s = (statistics.median(item) for item in zip(*checks, strict=True))
    print(
        f"\n{name}: {text.count(chr(10))} lines; greenloop check: {wall_s:.2f}s, CPU {cpu_s:.2f}s"
    )
    print("pieces, seconds (but for the mutants two at a time):", end=" ")
    pieces = {key: statistics.median(item[key] for item in grades) for key in grades[0]}
    print(", ".join(f"{key} {value:.2f}" for key, value in pieces.items()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--modules", default="texts,numerals,stock,formulas,spans")
    parser.add_argument("--cosmic", type=int, default=20)
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--venv", type=Path, help="one that has the tools; else one is made")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        venv = chosen.venv or Path(folder, "venv")
        print(install(venv) if not chosen.venv else f"tools of {venv}")
        print(
            f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; medians of {chosen.rounds}\n"
        )
        names = (
            "module",
            "tool",
            "mutants",
            "score",
            "late",
            "wall",
            "CPU",
            "wall",
            "CPU",
            "warm",
            "CPU",
        )
        print("{:10} {:18} {:>7} {:>6} {:>5} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9}".format(*names))
        given = tools(venv, chosen.cosmic, chosen.single)
        pairs = ((OURS, THEIRS), (OURS_ALONE, THEIRS_ALONE))[: 2 if chosen.single else 1]
        table: dict[tuple[str, str], list[list[float]]] = {pair: [] for pair in pairs}
        for name in chosen.modules.split(","):
            found = measure(name, given, chosen.rounds)
            show(name, found)
            for pair in pairs:
                table[pair].append(ratios(name, found, *pair))
    print("\ngeometric means")
    for (ours, theirs), values in table.items():
        walls, cpus, warm, warm_cpu = (mean(item) for item in zip(*values, strict=True))
        print(f"{ours} : {theirs}: the whole command: wall {walls:.1f}x, CPU {cpus:.1f}x;", end=" ")
        print(f"with an open sandbox: wall {warm:.1f}x, CPU {warm_cpu:.1f}x")
    whole_grade("stock", chosen.rounds)


if __name__ == "__main__":
    main()
