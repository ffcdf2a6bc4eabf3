"""What `greenloop gate` says of patches that weaken tests, and of honest ones.

    python bench/gate.py [FOLDER] [--only TEXT] [--work DIR] [--time S]

FOLDER (`bench/gate_corpus/develop`, or `figure`) holds `*.case` files: lines `key: value`, an empty line, and a
patch as git writes it. `project` names a table of `projects.toml` in the folder above, `base` the commit
that the patch is for, `commit` one whose own change is taken in place of a patch, `expect` is `block` or
`pass`, and `says` a regular expression for the first finding. Each case runs in a clone with an
environment of its own, where the gate remembers nothing.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

CORPUS = Path(__file__).parent / "gate_corpus"
IDENTITY = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]


@dataclass(frozen=True)
class Case:
    name: str
    fields: dict[str, str]
    patch: str

    @property
    def blocks(self) -> bool:
        return self.fields["expect"] == "block"


@dataclass(frozen=True)
class Result:
    case: Case
    message: str
    note: str
    seconds: float

    @property
    def first(self) -> str:
        found = [line[2:] for line in self.message.splitlines() if line.startswith("- ")]
        return found[0] if found else ""

    @property
    def is_right(self) -> bool:
        if not self.case.blocks:
            return not self.message
        return bool(self.first and re.search(self.case.fields.get("says", ""), self.first))


def read_case(file: Path) -> Case:
    head, _, patch = file.read_text().partition("\n\n")
    lines = (line.partition(": ") for line in head.splitlines())
    return Case(file.stem, {key: value.strip() for key, _, value in lines}, patch)


def run(folder: Path, *command: str, text: str | None = None) -> str:
    done = subprocess.run(command, cwd=folder, input=text, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return done.stdout


def prepare(project: str, table: dict[str, Any], work: Path, projects: Path) -> Path:
    """Clone a project, or build it from a patch, if that was not done; return its folder."""
    folder = work / project
    if not folder.exists():
        if "source" in table:
            run(work, "git", "clone", "-q", table["source"], project)
        else:
            folder.mkdir()
            run(folder, "git", "init", "-q")
            run(folder, "git", "apply", str(projects / f"{project}.patch"))
            run(folder, "git", "add", "-A")
            run(folder, "git", *IDENTITY, "commit", "-qm", "begin")
        (folder / ".git/info/exclude").write_text(".venv/\n*.egg-info/\n")
        run(folder, "git", "tag", "-f", "bench-head")
    return folder


def check_out(case: Case, folder: Path, table: dict[str, Any]) -> None:
    """Check the base out, install its packages into a new environment, and apply the patch."""
    commit = case.fields.get("commit", "")
    base = case.fields.get("base") or (f"{commit}^" if commit else "bench-head")
    run(folder, "git", "checkout", "-q", "-f", "--detach", base)
    run(folder, "git", "clean", "-fdq")
    if not (folder / ".venv/ready").exists():
        run(folder, sys.executable, "-m", "venv", ".venv")
        packages = ["pytest", *table.get("packages", [])]
        run(folder, ".venv/bin/python", "-m", "pip", "install", "-q", *packages)
        (folder / ".venv/ready").touch()
    patch = run(folder, "git", "diff", "--binary", base, commit) if commit else case.patch
    run(folder, "git", "apply", "--whitespace=nowarn", "-", text=patch)


def ask(case: Case, folder: Path, time_s: float) -> Result:
    with tempfile.TemporaryDirectory() as state:
        begun = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "greenloop", "gate", "--time", str(time_s)],
            cwd=folder,
            env={**os.environ, "XDG_STATE_HOME": state, "GREENLOOP_HOME": f"{state}/runs"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return Result(case, done.stdout, done.stderr.strip(), time.monotonic() - begun)


def judge(cases: list[Case], projects: Path, work: Path, time_s: float) -> Iterator[Result]:
    tables = tomllib.loads((projects / "projects.toml").read_text())
    for case in cases:
        table = tables[case.fields["project"]]
        folder = prepare(case.fields["project"], table, work, projects)
        check_out(case, folder, table)
        yield ask(case, folder, time_s)


def show(result: Result) -> None:
    said = "blocked" if result.message else "let through"
    mark = " " if result.is_right else "!"
    print(f"{mark} {result.case.name:<40} {said:<12} {result.seconds:5.1f} s", flush=True)
    for line in [] if result.is_right else (result.message or result.note).splitlines():
        print(f"      {line[:300]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=CORPUS / "figure")
    parser.add_argument("--only", default="", help="cases whose name matches")
    parser.add_argument("--work", type=Path, help="keeps clones and environments")
    parser.add_argument("--time", type=float, default=60.0)
    options = parser.parse_args()
    cases = [read_case(file) for file in sorted(options.folder.glob("*.case"))]
    cases = [case for case in cases if re.search(options.only, case.name)]
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as temporary:
        work = (options.work or Path(temporary)).absolute()
        work.mkdir(parents=True, exist_ok=True)
        for result in judge(cases, options.folder.absolute().parent, work, options.time):
            show(result)
            results.append(result)
    blocked = Counter((item.case.blocks, bool(item.message)) for item in results)
    bad, honest = (sum(i.case.blocks is kind for i in results) for kind in (True, False))
    named = sum(item.is_right for item in results if item.case.blocks)
    print(f"weakened: {blocked[True, True]} of {bad} blocked, {named} with the right reason first")
    print(f"honest: {blocked[False, False]} of {honest} let through")
    if results:
        print(f"median {median(item.seconds for item in results):.1f} s")


if __name__ == "__main__":
    main()
