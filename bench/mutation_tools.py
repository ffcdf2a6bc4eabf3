"""Mutation runs of one module by one tool, each from the shell and in a folder of its own."""

from __future__ import annotations

import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parent / "mutation_corpus"
GREENLOOP = """
import json, sys, time
from pathlib import Path
from greenloop.sandbox import open_sandbox

name = sys.argv[1]
with open_sandbox() as box:
    from greenloop.grading.mutation import measure_mutation
    from greenloop.testsuite import TestFile

    if not name:
        sys.exit()
    tests = [TestFile(f"test_{name}.py", Path(f"test_{name}.py").read_text("utf-8"))]
    started = time.monotonic()
    code = Path(f"{name}.py").read_text("utf-8")
    found = measure_mutation(box, code, tests, module=name, budget_s=600)
    wall_s = time.monotonic() - started
    print(json.dumps({"wall_s": wall_s, "record": found.model_dump()}))
"""


@dataclass(frozen=True)
class Ran:
    """Seconds from start to end, CPU of all processes, mutants tried, share that was noticed.

    `inner_s` and `inner_cpu_s` leave out the start of Python and of a sandbox (0: not known).
    """

    wall_s: float
    cpu_s: float
    mutants: int
    score: float
    timeouts: int = 0
    inner_s: float = 0.0
    inner_cpu_s: float = 0.0


Tool = Callable[[str, Path], Ran]


def greenloop(name: str, folder: Path, cores: int | None = None) -> Ran:
    """Measure in a fresh process that opens a sandbox, as `check` does, before it imports the rest.

    A second process only opens the sandbox, to measure the CPU time of the start.
    """
    _copy(name, folder, folder)
    wall_s, cpu_s, output = run_timed([sys.executable, "-c", GREENLOOP, name], folder, cores=cores)
    said = json.loads(output.splitlines()[-1])
    record = said["record"]
    if record["trouble"]:
        raise RuntimeError(record["trouble"])
    start_cpu_s = run_timed([sys.executable, "-c", GREENLOOP, ""], folder, cores=cores)[1]
    inner = (said["wall_s"], cpu_s - start_cpu_s)
    return Ran(wall_s, cpu_s, record["sampled"], record["score"], record["timeout"], *inner)


def mutmut(name: str, folder: Path, venv: Path, most: int | None = None) -> Ran:
    """Run `mutmut run` with its own defaults; `most` is its --max-children."""
    for part in ("src", "tests"):
        (folder / part).mkdir()
    _copy(name, folder / "src", folder / "tests")
    (folder / "setup.cfg").write_text("[mutmut]\nsource_paths=src\n", "utf-8")
    more = ["--max-children", str(most)] if most else []
    wall_s, cpu_s, _ = run_timed([str(venv / "bin/mutmut"), "run", *more], folder, venv)
    run_timed([str(venv / "bin/mutmut"), "export-cicd-stats"], folder, venv)
    said = json.loads((folder / "mutants/mutmut-cicd-stats.json").read_text("utf-8"))
    noticed = said["killed"] + said["timeout"] + said["segfault"] + said["suspicious"]
    return Ran(wall_s, cpu_s, said["total"], noticed / said["total"], said["timeout"])


def cosmic_ray(name: str, folder: Path, venv: Path, most: int) -> Ran:
    """Run `cosmic-ray exec` on at most `most` mutants, spread over the module: one process each."""
    _copy(name, folder, folder)
    command = f"{venv}/bin/python -m pytest -x -q -p no:cacheprovider test_{name}.py"
    (folder / "settings.toml").write_text(
        f'[cosmic-ray]\nmodule-path = "{name}.py"\ntimeout = 10.0\nexcluded-modules = []\n'
        f'test-command = "{command}"\n[cosmic-ray.distributor]\nname = "local"\n',
        "utf-8",
    )
    tool = str(venv / "bin/cosmic-ray")
    run_timed([tool, "init", "settings.toml", "session.sqlite"], folder, venv)
    tried = _thin_out(folder / "session.sqlite", most)
    wall_s, cpu_s, _ = run_timed([tool, "exec", "settings.toml", "session.sqlite"], folder, venv)
    with sqlite3.connect(folder / "session.sqlite") as session:
        rows = session.execute("select test_outcome from work_results").fetchall()
    killed = sum("killed" in str(row[0]).lower() for row in rows)
    return Ran(wall_s, cpu_s, tried, killed / max(1, len(rows)))


def _thin_out(path: Path, most: int) -> int:
    """Remove all but `most` of the jobs from a session; return how many are left."""
    with sqlite3.connect(path) as session:
        jobs = [
            row[0] for row in session.execute("select job_id from mutation_specs order by rowid")
        ]
        step = max(1.0, len(jobs) / most)
        kept = {jobs[int(number * step)] for number in range(min(most, len(jobs)))}
        for job in set(jobs) - kept:
            session.execute("delete from mutation_specs where job_id = ?", (job,))
            session.execute("delete from work_items where job_id = ?", (job,))
    return len(kept)


def install(venv: Path) -> str:
    """Install the tools to compare with into a venv of their own; return their versions."""
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    pip = [str(venv / "bin/python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "-q", "pytest", "mutmut>=3,<4", "cosmic-ray"], check=True)
    listed = json.loads(subprocess.check_output([*pip, "list", "--format", "json"]))
    wanted = ("mutmut", "cosmic-ray", "cosmic_ray", "pytest")
    return ", ".join(
        f"{item['name']} {item['version']}" for item in listed if item["name"] in wanted
    )


def run_timed(
    command: Sequence[str],
    folder: Path,
    venv: Path | None = None,
    cores: int | None = None,
    more: Mapping[str, str] | None = None,
) -> tuple[float, float, str]:
    """Return wall and CPU seconds of a command with all its processes, and its output.

    Its environment has HOME, PATH, LANG and `more`.
    """
    kept = {key: os.environ[key] for key in ("HOME", "PATH", "LANG") if key in os.environ}
    kept |= more or {}
    if venv:
        kept["PATH"] = f"{venv / 'bin'}{os.pathsep}{kept.get('PATH', '')}"
    if cores:
        some = ",".join(map(str, sorted(os.sched_getaffinity(0))[:cores]))
        command = ["taskset", "-c", some, *command]
    counted = folder / "task-clock.txt"
    if shutil.which("perf"):  # getrusage misses a sandbox's processes: they are never ours
        counting = ["perf", "stat", "-x,", "-e", "task-clock", "-o", str(counted), "--"]
        command = [*counting, *command]
    started = time.monotonic()
    ended = subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True)
    wall_s = time.monotonic() - started
    if ended.returncode:
        said = (ended.stdout + ended.stderr)[-2000:]
        raise RuntimeError(f"{' '.join(command[:3])} ended with {ended.returncode}:\n{said}")
    return wall_s, _milliseconds(counted) / 1e3, ended.stdout


def _milliseconds(counted: Path) -> float:
    """Return the milliseconds that perf wrote; NaN without perf (apt install linux-perf)."""
    lines = counted.read_text("utf-8").splitlines() if counted.exists() else []
    found = [line.split(",")[0] for line in lines if ",task-clock," in line]
    return float(found[0]) if found else math.nan


def _copy(name: str, code: Path, tests: Path) -> None:
    shutil.copy(CORPUS / f"{name}.py", code)
    shutil.copy(CORPUS / f"test_{name}.py", tests)
