"""All promises that are measured: one command, one table, one exit status.

    python bench/promises.py [--only NAME …] [--old CHECKOUT] [--recorded DIR [--beside FILE]]
                             [--trickcatcher DIR --contracts FILE] [--keep DIR]

Each row runs the command that is named for it, reads its figure from what the command prints, and compares
it with the promise. The exit status is 1 where a promise is broken. Rows that need data outside of this
repository are "left out" with what they need: a checkout to compare with (`--old`), recorded runs with
truth (`--recorded`, see bench/recorded.py), the data of bench/trickcatcher.py. `--keep` keeps the outputs.

Ratios are measured side by side, so a busy machine affects both sides; absolute times are not promised.
All rows together take about half an hour on two cores.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAX_LINES, MAX_FILES, MAX_TEST_LINES = 50_000, 450, 40_000


@dataclass(frozen=True)
class Figure:
    """A figure from a command's output, and whether its promise is kept."""

    text: str
    is_kept: bool


@dataclass(frozen=True)
class Promise:
    """A promise, the command that measures it, and how its output is read."""

    name: str
    says: str
    command: Sequence[str]
    read: Callable[[str], Figure]
    needs: str = ""


def python(*arguments: str | Path) -> list[str]:
    return [sys.executable, *map(str, arguments)]


def find(pattern: str, output: str) -> list[str]:
    """Return the groups of the last match of `pattern`; raises ValueError where there is none."""
    found = list(re.finditer(pattern, output, re.MULTILINE))
    if not found:
        raise ValueError(f"the output has no line like {pattern!r}")
    return [group or "" for group in found[-1].groups()]


def read_forgeries(output: str) -> Figure:
    """Count the verdicts of the lines that `python -m tests.forgery` prints for each case."""
    rows = re.findall(r"^[! ] (\w+) +\S+ +(\w+) +.+?:", output, re.MULTILINE)
    forged = [verdict for verdict, kind in rows if kind != "honest"]
    attacks = [verdict for verdict, kind in rows if kind in ("framework", "equality")]
    honest = [verdict for verdict, kind in rows if kind == "honest"]
    text = (
        f"{forged.count('verified')} of {len(forged)} forgeries verified; framework and equality: "
        f"{attacks.count('failed')} of {len(attacks)} failed; honest: {honest.count('verified')} of "
        f"{len(honest)} verified, {honest.count('failed')} failed"
    )
    kept = forged.count("verified") <= 16 and attacks.count("failed") == len(attacks) > 0
    return Figure(text, kept and honest.count("verified") >= 125 and "failed" not in honest)


def read_weak_tests(output: str) -> Figure:
    """Read how many of the wrong modules that pass their tests are `verified`."""
    rows = re.findall(r"^(?:thorough|medium|happy|trivial) .* (\d+) +(\d+) \(\d+%\)$", output, re.M)
    passing, verified = (sum(map(int, column)) for column in zip(*rows, strict=True))
    right = find(r"^thorough +(\d+) of (\d+)", output)
    text = f"wrong verified: {verified} of {passing}; thorough right verified: {' of '.join(right)}"
    return Figure(text, verified <= 0.03 * passing)


def read_trickcatcher(output: str) -> Figure:
    """Read the verdicts of the sample of every sixth task; 32 were noticed, none lost, in November 2026."""
    kinds = Counter(re.findall(r"^\S+: (wrong|right): (.+)$", output, re.MULTILINE))
    noticed = sum(kinds["wrong", found] for found in ("noticed", "example", "open"))
    lost, kept = kinds["right", "open"], kinds["right", "nothing"]
    text = f"noticed {noticed} wrong ones; right ones: {kept} verified, {lost} lost"
    return Figure(text, noticed >= 30 and lost <= 2)


def read_exit_line(output: str) -> Figure:
    """Take the last line of a command that fails by its exit status alone."""
    last = (output.strip().splitlines() or ["no output"])[-1]
    return Figure(last, "exit status 0" in last)


def read_sandbox(output: str) -> Figure:
    """Read how many times an isolated run is faster than the tutorials' subprocess."""
    ratios = {
        name: float(ratio)
        for name, ratio in re.findall(
            r"^greenloop: (\w+) +[\d.]+ +[\d.]+ +([\d.]+)", output, re.MULTILINE
        )
    }
    best = max((value for name, value in ratios.items() if name != "none"), default=0.0)
    return Figure(f"{best:.0f} times the tutorials' executor", best >= 30)


def read_mutation(output: str) -> Figure:
    whole, opened = find(r"whole command: wall ([\d.]+)x.*open sandbox: wall ([\d.]+)x", output)
    text = f"{opened} times mutmut with an open sandbox, {whole} whole"
    return Figure(text, float(opened) >= 12 and float(whole) >= 6)


def read_check(output: str) -> Figure:
    ratio = float(find(r"check : pytest ([\d.]+)", output)[0])
    return Figure(f"{ratio:.1f} times plain pytest", ratio <= 3)


def read_house(output: str) -> Figure:
    lines, files = (
        int(find(rf"^\s*{name}\D+([\d,]+)", output)[0].replace(",", ""))
        for name in ("lines", "files")
    )
    tests = int(find(r"^\s*lines of tests\D+([\d,]+)", output)[0].replace(",", ""))
    text = f"{lines:,} lines in {files} files, {tests:,} of tests"
    return Figure(text, lines <= MAX_LINES and files <= MAX_FILES and tests <= MAX_TEST_LINES)


def collect(options: argparse.Namespace) -> Iterator[Promise]:
    """Yield all promises; one whose data is not at hand names what it `needs`."""
    bench = ROOT / "bench"
    yield Promise(
        "forgeries",
        "framework and equality failed, ≤ 16 verified; honest ≥ 125 verified, none failed",
        python("-m", "tests.forgery"),
        read_forgeries,
    )
    yield Promise(
        "weak-tests",
        "wrong verified ≤ 3 % with a second implementation",
        python(bench / "weak_tests.py", "--peers"),
        read_weak_tests,
    )
    yield Promise(
        "trickcatcher",
        "noticed and lost as before (± 2)",
        python(
            *(bench / "trickcatcher.py", "--data", options.trickcatcher or ""),
            *("--contracts", options.contracts or "", "--budget", "15"),
            *("--first", "2", "--every", "6"),
        ),
        read_trickcatcher,
        "" if options.trickcatcher else "--trickcatcher DIR --contracts FILE",
    )
    yield Promise(
        "same-reports",
        "same verdicts on the recorded examples",
        python(bench / "same_reports.py", options.old or "", ROOT),
        read_exit_line,
        "" if options.old else "--old CHECKOUT",
    )
    beside = ["--beside", options.beside] if options.beside else []
    yield Promise(
        "recorded",
        "no verdict of a recorded run is worse",
        python(bench / "recorded.py", options.recorded or "", *beside),
        read_exit_line,
        "" if options.recorded else "--recorded DIR",
    )
    yield Promise(
        "hostile",
        "hostile programs are contained",
        python("-m", "pytest", "-q", "-n", "2", "tests/security/hostile"),
        read_exit_line,
    )
    yield Promise(
        "isolated-run",
        "≥ 30 times the tutorials' executor",
        python(bench / "sandbox.py", "10"),
        read_sandbox,
    )
    yield Promise(
        "mutants",
        "≥ 12 times mutmut with an open sandbox, ≥ 6 times whole",
        python(bench / "mutation.py", "--rounds", "1", "--cosmic", "0"),
        read_mutation,
    )
    yield Promise(
        "check",
        "≤ 3 times plain pytest on a small module",
        python(Path(__file__), "--measure-check"),
        read_check,
    )
    yield Promise(
        "house",
        f"≤ {MAX_LINES:,} product lines, ≤ {MAX_FILES} files, ≤ {MAX_TEST_LINES:,} of tests",
        python(bench / "house.py", "--no-trace"),
        read_house,
    )


def measure(promise: Promise, keep: Path | None) -> Figure | None:
    """Run the command of a promise and read its figure; None where its data is not at hand."""
    if promise.needs:
        return None
    done = subprocess.run(promise.command, capture_output=True, text=True, cwd=ROOT, check=False)
    output = f"{done.stdout}{done.stderr if done.returncode else ''}"
    if promise.read is read_exit_line:
        last = (output.strip().splitlines() or [""])[-1]
        output += f"\n{last} (exit status {done.returncode})"
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{promise.name}.txt").write_text(output, "utf-8")
    try:
        return promise.read(output)
    except ValueError as error:
        return Figure(f"not measured: {error} (exit status {done.returncode})", False)


def measure_check(rounds: int = 7) -> None:
    """Print how many times plain pytest `greenloop check` takes, in turn, on a small module."""
    corpus = ROOT / "bench" / "mutation_corpus"
    code, tests = corpus / "stock.py", corpus / "test_stock.py"
    check = python("-m", "greenloop", "check", code, tests, "--require", "passed")
    plain = python("-m", "pytest", "-q", "-p", "no:cacheprovider", tests)
    taken: dict[str, list[float]] = {"check": [], "pytest": []}
    with tempfile.TemporaryDirectory() as folder:
        for name, command in [("check", check), ("pytest", plain)] * rounds:
            started = time.perf_counter()
            subprocess.run(command, cwd=folder, capture_output=True, check=True)
            taken[name].append(time.perf_counter() - started)
    check_s, plain_s = (statistics.median(taken[name]) for name in ("check", "pytest"))
    print(f"check {check_s:.2f} s, pytest {plain_s:.2f} s; check : pytest {check_s / plain_s:.2f}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--old", type=Path, metavar="CHECKOUT")
    parser.add_argument("--recorded", type=Path, metavar="DIR")
    parser.add_argument("--beside", type=Path, metavar="FILE")
    parser.add_argument("--trickcatcher", type=Path, metavar="DIR")
    parser.add_argument("--contracts", type=Path, metavar="FILE")
    parser.add_argument("--keep", type=Path, metavar="DIR")
    parser.add_argument("--measure-check", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    options = parse_arguments()
    if options.measure_check:
        measure_check()
        return 0
    chosen = [item for item in collect(options) if not options.only or item.name in options.only]
    broken = 0
    for promise in chosen:
        figure = measure(promise, options.keep)
        if figure is None:
            print(f"left out  {promise.name:13} needs {promise.needs}", flush=True)
            continue
        broken += not figure.is_kept
        word = "kept" if figure.is_kept else "BROKEN"
        print(f"{word:9} {promise.name:13} {figure.text}   [{promise.says}]", flush=True)
    print(f"{broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
