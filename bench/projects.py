"""Share of public projects that are graded in their own environment at the first try.

    git clone https://github.com/pallets/click clones/click        # likewise the others
    python bench/projects.py --clones clones [--python-envs DIR] [--only click,attrs] [--heal] [--save FILE]

bench/projects.json names the projects: repository, commit, the Python of its environment and what is
installed there (`uv venv`, then `uv pip install`), a module and a file of its tests. A project is
`fitted` if greenloop was developed with a look at it; the others were run as they are. Without
`--clones` the commands that fetch them are printed.

Of each project its own suite is run with plain pytest (twice; the second run is timed), then

* `greenloop check MODULE TESTS`: graded means that mutants of the module were tried and a share of them is known;
* `greenloop check --diff HEAD~1`: as many tests with each outcome as plain pytest has, test by test;
* with `--heal`: a fault is put into the module (an inverted operator that a test notices), and
  `greenloop heal MODULE --tests TESTS --model none` has to make the suite green.

Wall times are printed beside `3 x the suite + 10 s`. A loaded machine stretches both.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_suffix(".json")
GREENLOOP = [sys.executable, "-m", "greenloop"]
SUITE_S, CHECK_S = 900, 1200
OUTCOMES = """
import json, os

outcomes, sections = {}, {}

def pytest_runtest_logreport(report):
    old = outcomes.get(report.nodeid, "passed")
    if hasattr(report, "wasxfail"):
        new = "xfailed" if report.skipped else "xpassed"
    elif report.failed:
        new = "failed" if report.when == "call" else "error"
    else:
        new = "skipped" if report.skipped else old
    outcomes[report.nodeid] = new

def pytest_collectreport(report):
    if report.failed or report.skipped:
        outcomes[report.nodeid] = "error" if report.failed else "skipped"

def pytest_sessionfinish():
    if "PYTEST_XDIST_WORKER" not in os.environ:
        with open(os.environ["BENCH_OUTCOMES"], "w") as file:
            json.dump(outcomes, file)
"""


@dataclass(frozen=True)
class Project:
    """A project of the table."""

    name: str
    repository: str
    commit: str
    style: str
    python: str
    install: str
    module: str
    tests: str
    fitted: bool = False


@dataclass
class Outcome:
    """Measurements of a project. `problem` is why it could not be set up."""

    name: str
    fitted: bool
    problem: str = ""
    suite: dict[str, int] = field(default_factory=dict)
    suite_s: float = 0
    module: str = ""
    module_s: float = 0
    diff: str = ""
    diff_s: float = 0
    differ: dict[str, list[str | None]] = field(default_factory=dict)
    heal: str = ""
    heal_mib: int = 0


def set_up(project: Project, clones: Path, folder: Path) -> str:
    """Check the project out and make its environment, if that was not done; return what failed."""
    root = folder / project.name
    if (root / ".bench-ready").exists():
        return ""
    shutil.rmtree(root, ignore_errors=True)
    names = (project.name, project.repository.replace("/", "+"))
    found = [path for name in names for path in (clones / name / "repo", clones / name)]
    source = next((path for path in found if path.is_dir()), None)
    if source is None:
        return f"no clone of {project.repository} in {clones}"
    python = str(root / ".venv" / "bin" / "python")
    for command in (
        ["git", "clone", "-q", str(source), str(root)],
        ["git", "-C", str(root), "checkout", "-q", project.commit],
        ["git", "-C", str(root), "submodule", "update", "-q", "--init"],
        ["uv", "venv", "-q", "--python", project.python, str(root / ".venv")],
        ["uv", "pip", "install", "-q", "--python", python, *project.install.split()],
    ):
        cwd = root if root.exists() else folder
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
        if done.returncode and "submodule" not in command:
            return f"{' '.join(command[:4])} …: {done.stderr.strip()[-300:]}"
    (root / ".git" / "info" / "exclude").write_text(".bench-ready\n.venv\n")
    (root / ".bench-ready").touch()
    return ""


def run_plainly(root: Path) -> tuple[dict[str, str], float]:
    """Return the outcome of each test with plain pytest, and the seconds of the second run."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "bench_outcomes.py").write_text(OUTCOMES)
        file, path = Path(folder, "outcomes"), f"{root}/.venv/bin:{os.environ['PATH']}"
        added = {"PYTHONPATH": folder, "BENCH_OUTCOMES": str(file), "PATH": path}
        command = [".venv/bin/python", "-m", "pytest", "-q", "-p", "bench_outcomes"]
        for _ in range(2):
            started = time.monotonic()
            run_quietly(command, root, SUITE_S, added)
        seconds = time.monotonic() - started
        return json.loads(file.read_text()) if file.exists() else {}, seconds


def run_quietly(
    command: list[str], root: Path, seconds: float, added: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command without an activated environment; status 124 where time is over."""
    own = {
        key: text for key, text in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH")
    }
    try:
        return subprocess.run(
            command,
            cwd=root,
            env=own | (added or {}),
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"no end after {seconds} s")


def check(root: Path, *arguments: str) -> tuple[dict[str, Any], str, float]:
    """Return the report of `greenloop check`, what it said where there is none, and its seconds."""
    started = time.monotonic()
    done = run_quietly([*GREENLOOP, "check", *arguments, "--json"], root, CHECK_S)
    seconds = time.monotonic() - started
    try:
        return json.loads(done.stdout), "", seconds
    except ValueError:
        lines = done.stderr.strip().splitlines()
        return {}, f"status {done.returncode}: {' / '.join(lines[-3:])[-400:]}", seconds


def judge_module(report: dict[str, Any], said: str) -> str:
    """Return `graded …`, or why the module was not graded."""
    mutation = report.get("evidence", {}).get("mutation") or {}
    killed, left = mutation.get("killed", 0), len(mutation.get("survived", []))
    if report and report["verdict"] != "failed" and killed + left:
        return f"graded: {report['verdict']}, {killed} mutants noticed, {left} not"
    reasons = report.get("reasons", [])
    return said or f"not graded: {'; '.join(map(str, reasons))[:400]}"


def find_differences(plain: dict[str, str], report: dict[str, Any]) -> dict[str, list[str | None]]:
    """Return the tests whose outcome differs, with that of plain pytest and that of greenloop."""
    here = {test["id"]: test["outcome"] for test in report["tests"]}
    baseline = (report.get("change") or {}).get("baseline") or {}
    here |= dict.fromkeys(baseline.get("red", []), "failed")
    same = {"error": "failed"}
    names = plain.keys() | here.keys()
    pairs = {name: [plain.get(name), here.get(name)] for name in sorted(names)}
    return {
        name: pair
        for name, pair in pairs.items()
        if same.get(pair[0] or "", pair[0]) != same.get(pair[1] or "", pair[1])
    }


def measure(project: Project, root: Path) -> Outcome:
    """Run the suite and both checks."""
    outcome = Outcome(project.name, project.fitted)
    plain, outcome.suite_s = run_plainly(root)
    outcome.suite = dict(Counter(plain.values()))
    report, said, outcome.module_s = check(root, project.module, project.tests)
    outcome.module = judge_module(report, said)
    report, said, outcome.diff_s = check(root, "--diff", "HEAD~1")
    outcome.diff = said
    if report:
        outcome.differ = find_differences(plain, report)
        count = len(outcome.differ)
        outcome.diff = (
            f"{report['verdict']}, {f'{count} of {len(plain)} differ' if count else 'equal'}"
        )
    return outcome


def list_faults(source: str) -> Iterator[str]:
    """Yield variants of a module, each with one operator inverted, at several places."""
    pairs = ((" == ", " != "), (" < ", " >= "), (" > ", " <= "), (" + ", " - "), ("if not ", "if "))
    for part, (old, new) in itertools.product((3, 2, 6, 1), pairs):
        at = source.find(old, len(source) // part if part > 1 else 0)
        if at >= 0:
            yield source[:at] + new + source[at + len(old) :]


def heal(project: Project, root: Path) -> str:
    """Return the result of `heal` for the first fault that a test notices."""
    module = root / project.module
    original = module.read_text("utf-8")
    tests = [".venv/bin/python", "-m", "pytest", "-q", "-x", project.tests]
    try:
        for text in list_faults(original):
            module.write_text(text, "utf-8")
            if run_quietly(tests, root, SUITE_S).returncode != 1:
                continue
            command = [
                "heal",
                project.module,
                "--tests",
                project.tests,
                "--model",
                "none",
                "--yes",
            ]
            done = run_quietly([*GREENLOOP, *command], root, CHECK_S)
            is_green = run_quietly(tests, root, SUITE_S).returncode == 0
            lines = (done.stderr + done.stdout).strip().splitlines()
            return (
                "healed" if is_green else f"status {done.returncode}: {lines[-1] if lines else ''}"
            )
        return "no fault that a test notices"
    finally:
        module.write_text(original, "utf-8")


def show(outcome: Outcome) -> None:
    """Print the measurements of a project."""
    limit = 3 * outcome.suite_s + 10
    print(f"{outcome.name}{' (fitted)' if outcome.fitted else ''}")
    if outcome.problem:
        print(f"  not set up: {outcome.problem}", flush=True)
        return
    suite = ", ".join(f"{count} {kind}" for kind, count in sorted(outcome.suite.items()))
    print(f"  suite   {suite} in {outcome.suite_s:.1f} s (limit {limit:.0f} s)")
    print(f"  module  {outcome.module} ({outcome.module_s:.0f} s)")
    print(f"  diff    {outcome.diff} ({outcome.diff_s:.0f} s)")
    for name, pair in list(outcome.differ.items())[:4]:
        print(f"          {name}: {pair[0]} with pytest, {pair[1]} here")
    if outcome.heal:
        print(f"  heal    {outcome.heal} ({outcome.heal_mib} MiB at most)")
    sys.stdout.flush()


def summarize(outcomes: list[Outcome]) -> None:
    """Print the counts, separately for fitted projects."""
    for fitted in (True, False):
        some = [item for item in outcomes if item.fitted == fitted and not item.problem]
        if not some:
            continue
        graded = sum(item.module.startswith("graded") for item in some)
        equal = sum(item.diff.endswith("equal") for item in some)
        fast = sum(max(item.module_s, item.diff_s) <= 3 * item.suite_s + 10 for item in some)
        tests = sum(sum(item.suite.values()) for item in some)
        name = "fitted" if fitted else "run as they are"
        print(
            f"{len(some)} {name}, {tests} tests: {graded} modules graded at the first try; {equal} changes "
            f"with outcomes equal to pytest's; {fast} within 3 x suite + 10 s"
        )
        if tried := [item for item in some if item.heal and not item.heal.startswith("no fault")]:
            print(f"  healed: {sum(item.heal == 'healed' for item in tried)} of {len(tried)}")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--clones", type=Path)
    parser.add_argument("--python-envs", type=Path, help="where projects and environments are kept")
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--heal", action="store_true")
    parser.add_argument("--save", type=Path, help="JSON lines, one for each project")
    return parser.parse_args()


def main() -> int:
    options = read_options()
    table = [Project(**item) for item in json.loads(TABLE.read_text("utf-8"))]
    wanted = [p for p in table if not options.only or p.name in options.only.split(",")]
    if options.clones is None:
        for item in wanted:
            print(f"git clone https://github.com/{item.repository} clones/{item.name}")
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.python_envs or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        os.environ.setdefault("GREENLOOP_HOME", f"{temporary}/home")
        outcomes = []
        for item in wanted:
            problem = set_up(item, options.clones.resolve(), folder)
            root = folder / item.name
            outcome = Outcome(item.name, item.fitted, problem) if problem else measure(item, root)
            if options.heal and not problem:
                outcome.heal = heal(item, root)
                peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
                outcome.heal_mib = peak
            show(outcome)
            outcomes.append(outcome)
            if options.save:
                with options.save.open("a") as file:
                    file.write(json.dumps(asdict(outcome)) + "\n")
        summarize(outcomes)
    return 0 if all(item.module.startswith("graded") for item in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
