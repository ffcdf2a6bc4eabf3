"""Verdicts of recorded runs beside the truth: how often a verdict is wrong, and what it costs.

    python bench/recorded.py DIR [--only NAME …] [--accept-choices] [--load N] [--save FILE]
                             [--beside FILE] [--model PROVIDER:NAME]

DIR has a folder for each specification: `spec.md` and `answers.jsonl`, a replay file; and `truth.json`,
which maps the folder's name to what hidden tests said of the program: `right`, `wrong`, or another word
where the text has no right program. Each is replayed by the command line in a process of its own, one at a
time. With `--model` a live model answers instead, and its answers are recorded to `answers.jsonl` of
a copy below `--save`'s folder.

Printed are a row for each run (truth, verdict, calls, tokens, seconds, reasons), the table of verdicts
against truth, and the reasons by frequency. `--load N` runs N busy processes beside: verdicts must not
change. `--save` keeps the rows as JSON; `--beside` compares with such a file, and the exit status is
1 where a verdict is worse than there, or a wrong program is `verified` that was not.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

ORDER = ("none", "failed", "passed", "verified")
LIMIT_S = 1_200


@dataclass(frozen=True)
class Row:
    """Result of one run; `verdict` is `none` where it ended without a report."""

    name: str
    truth: str
    verdict: str
    status: int
    calls: int
    tokens: int
    seconds: float
    reasons: list[str]


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Keep `count` processes busy for the time of the block."""
    spinning = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(spinning) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def replay(folder: Path, truth: str, options: Sequence[str]) -> Row:
    """Run the specification of one folder on its recorded answers."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "greenloop", str(folder / "spec.md"), "--json", *options]
        command += ["--ask", "never", "--run-dir", f"{scratch}/run"]
        started = time.monotonic()
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=scratch, timeout=LIMIT_S, check=False
        )
        return read_row(folder.name, truth, done, time.monotonic() - started)


def read_row(name: str, truth: str, done: subprocess.CompletedProcess[str], seconds: float) -> Row:
    """Read the report from standard output, or the last line of standard error where there is none."""
    try:
        report = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["nothing was printed"])[-1]
        return Row(name, truth, "none", done.returncode, 0, 0, seconds, [last])
    usage = report["usage"]
    tokens = usage["input_tokens"] + usage["output_tokens"]
    reasons = [str(reason) for reason in report["reasons"]]
    return Row(
        name, truth, report["verdict"], done.returncode, usage["calls"], tokens, seconds, reasons
    )


def print_row(row: Row) -> None:
    print(
        f"{row.name:20} {row.truth:13} {row.verdict:9} status {row.status}  {row.calls:3} calls "
        f"{row.tokens:7,} tokens {row.seconds:6.1f} s"
    )
    for reason in row.reasons:
        print(f"    {reason}")


def print_tables(rows: Sequence[Row]) -> None:
    """Print verdicts against truth, and the number of each reason."""
    truths = sorted({row.truth for row in rows})
    counts = Counter((row.verdict, row.truth) for row in rows)
    print("\n" + "verdict".ljust(10) + "".join(truth.rjust(15) for truth in truths))
    for verdict in reversed(ORDER):
        cells = "".join(str(counts[verdict, truth]).rjust(15) for truth in truths)
        print(verdict.ljust(10) + cells)
    print(f"\ncalls {sum(r.calls for r in rows)}, tokens {sum(r.tokens for r in rows):,}")
    reasons = Counter(reason.split(":")[0] for row in rows for reason in row.reasons)
    for reason, count in reasons.most_common():
        print(f"{count:4}  {reason[:110]}")


def find_worse(rows: Sequence[Row], old: Mapping[str, str]) -> list[str]:
    """Name the rows whose verdict is worse than the old one: lower, or `verified` while wrong."""
    worse = []
    for row in rows:
        before = old.get(row.name, "none")
        lower = ORDER.index(row.verdict) < ORDER.index(before)
        false = row.truth == "wrong" and "verified" == row.verdict != before
        if (lower and row.truth == "right") or false:
            worse.append(f"{row.name} ({row.truth}): {before} before, {row.verdict} now")
    return worse


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--accept-choices", action="store_true")
    parser.add_argument("--load", type=int, default=0, metavar="N")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--model", default="")
    return parser.parse_args()


def build_options(arguments: argparse.Namespace, folder: Path) -> list[str]:
    accepted = ["--accept-choices"] if arguments.accept_choices else []
    if not arguments.model:
        return ["--model", f"replay:{folder / 'answers.jsonl'}", *accepted]
    target = (arguments.save or Path("recorded.json")).resolve().parent / folder.name
    target.mkdir(parents=True, exist_ok=True)
    return ["--model", arguments.model, "--record", str(target / "answers.jsonl"), *accepted]


def main() -> int:
    arguments = parse_arguments()
    truth = json.loads((arguments.folder / "truth.json").read_text("utf-8"))
    folders = [arguments.folder.resolve() / name for name in truth]
    rows = []
    with busy_processes(arguments.load):
        for folder in folders:
            if not arguments.only or folder.name in arguments.only:
                rows.append(replay(folder, truth[folder.name], build_options(arguments, folder)))
                print_row(rows[-1])
    print_tables(rows)
    if arguments.save:
        arguments.save.write_text(json.dumps([asdict(row) for row in rows], indent=1), "utf-8")
    if not arguments.beside:
        return 0
    old = {row["name"]: row["verdict"] for row in json.loads(arguments.beside.read_text("utf-8"))}
    worse = find_worse(rows, old)
    print("\n".join(worse) if worse else "no verdict is worse than before")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
