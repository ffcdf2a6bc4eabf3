"""Cost of a test run: as tutorials do it, with pytest alone, and in greenloop's sandboxes.

    python bench/sandbox.py [ROUNDS]

The ways take turns, so that a busy moment affects all of them. Wall time is measured around each
run; CPU time is that of the whole machine during the run and shortly after (deferred work of the
kernel counts), user and system, so run it on a quiet machine. Only bubblewrap and greenloop's
sandboxes isolate the code. The bare fork is the lower bound: pytest is loaded, nothing is isolated
or limited.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.errors import SandboxError
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.sandbox.backends.mounts import SITE, build_guest_mounts
from greenloop.sandbox.backends.namespaces import build_bubblewrap_arguments
from greenloop.settings import Settings

CODE = "def top_k(xs, k):\n    if k < 0:\n        raise ValueError(k)\n    return sorted(xs, reverse=True)[:k]\n"
TESTS = "import pytest\nfrom topk import top_k\n\n\n" + "".join(
    f"def test_{n}():\n    assert top_k([{n}, {n + 1}], 1) == [{n + 1}]\n\n\n" for n in range(20)
)
RAISES = "def test_negative():\n    with pytest.raises(ValueError):\n        top_k([1], -1)\n"
FLOOR = """
import os, sys, pytest
folder = sys.argv[1]
os.chdir(folder)
for _ in sys.stdin:
    child = os.fork()
    if not child:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        sys.dont_write_bytecode = True
        os._exit(pytest.main(["-q", "-p", "no:cacheprovider", folder]))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
FLOOR_NAME = "bare fork of a loaded pytest (the floor)"
_AFTER_S = 0.03
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass
class Way:
    """A way to run the suite, with (wall, CPU) seconds of its runs."""

    name: str
    run: Callable[[], bool]
    taken: list[tuple[float, float]] = field(default_factory=list)

    def measure(self) -> None:
        cpu, wall = machine_cpu(), time.perf_counter()
        green = self.run()
        wall = time.perf_counter() - wall
        time.sleep(_AFTER_S)
        self.taken.append((wall, machine_cpu() - cpu))
        if not green:
            raise SystemExit(f"{self.name}: the suite did not pass")

    def medians(self) -> tuple[float, float]:
        walls, cpus = zip(*self.taken, strict=True)
        return statistics.median(walls), statistics.mean(cpus)


def machine_cpu() -> float:
    """Return the seconds that all processors have worked so far."""
    fields = Path("/proc/stat").read_text().split("\n")[0].split()
    return (int(fields[1]) + int(fields[2]) + int(fields[3])) * _TICK_S


def tutorial(*, plugins: bool) -> Callable[[], bool]:
    """Return a way to run pytest in a subprocess with a copied environment, as tutorials do."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if not plugins:
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

    def run() -> bool:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "topk.py").write_text(CODE)
            Path(folder, "test_topk.py").write_text(TESTS + RAISES)
            command = [sys.executable, "-m", "pytest", "-q", "test_topk.py"]
            ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True)
            return ended.returncode == 0

    return run


def in_folder() -> str:
    """Return a folder with the suite, for ways that keep it."""
    folder = tempfile.mkdtemp(prefix="greenloop-bench-")
    Path(folder, "topk.py").write_text(CODE)
    Path(folder, "test_topk.py").write_text(TESTS + RAISES)
    return folder


def cold_bubblewrap(folder: str) -> Callable[[], bool] | None:
    """Return a way to run pytest in a new bubblewrap with greenloop's mounts; None without it."""
    program = shutil.which("bwrap")
    if program is None:
        return None
    seen = build_guest_mounts()
    wall = [program, *build_bubblewrap_arguments(seen), "--setenv", "PYTHONPATH", SITE]
    wall += ["--setenv", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1", "--ro-bind", folder, "/tmp/work"]
    command = [seen.python, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "/tmp/work"]
    return lambda: subprocess.run([*wall, "--", *command], capture_output=True).returncode == 0


def bare_fork(folder: str, stack: ExitStack) -> Callable[[], bool]:
    """Return a way to fork a process that has pytest loaded; the child only runs the suite."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    forker = subprocess.Popen(
        [sys.executable, "-c", FLOOR, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    stack.enter_context(forker)
    assert forker.stdin is not None
    assert forker.stdout is not None
    asked, told = forker.stdin, forker.stdout

    def run() -> bool:
        asked.write("run\n")
        asked.flush()
        return told.readline() == "0\n"

    return run


def ours(box: Sandbox) -> Callable[[], bool]:
    return lambda: box.run_tests(CODE, TESTS + RAISES).passed


def ways(stack: ExitStack) -> list[Way]:
    """Return all ways that this machine supports."""
    found = [
        Way("tutorial: subprocess pytest, plugins of this environment", tutorial(plugins=True)),
        Way("subprocess pytest, no plugins", tutorial(plugins=False)),
    ]
    folder = in_folder()
    stack.callback(shutil.rmtree, folder)
    cold = cold_bubblewrap(folder)
    if cold is not None:
        found.append(Way("cold bubblewrap: pytest in a fresh one", cold))
    found.append(Way(FLOOR_NAME, bare_fork(folder, stack)))
    for kind in ("none", "container", "landlock", "bubblewrap", "native"):
        try:
            box = stack.enter_context(open_sandbox(Settings(sandbox=kind)))
        except SandboxError as error:
            print(f"left out: {error}")
            continue
        found.append(Way(f"greenloop: {kind}", ours(box)))
    return found


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with ExitStack() as stack:
        measured = ways(stack)
        for way in measured:
            way.run()
        for _ in range(rounds):
            for way in measured:
                way.measure()
    tell(measured, rounds)


def tell(measured: list[Way], rounds: int) -> None:
    """Print the table: each way compared with the tutorials', pytest alone, and the lower bound."""
    base_wall, base_cpu = measured[0].medians()
    alone_wall, _ = measured[1].medians()
    floor_wall, _ = next(way for way in measured if way.name == FLOOR_NAME).medians()
    print(f"21 tests, {rounds} rounds; wall: median, CPU: mean, in ms")
    print(
        "faster than: the tutorials' way, that in CPU, pytest alone; and how many times the floor"
    )
    print(f"{'':56} {'wall':>7} {'CPU':>7} {'tutorial':>9} {'in CPU':>7} {'alone':>7} {'floor':>7}")
    for way in measured:
        wall, cpu = way.medians()
        cpu_ratio = f"{base_cpu / cpu:7.1f}" if cpu else "      –"
        print(
            f"{way.name:56} {wall * 1e3:7.1f} {cpu * 1e3:7.1f} {base_wall / wall:9.1f} {cpu_ratio} "
            f"{alone_wall / wall:7.1f} {wall / floor_wall:7.2f}"
        )


if __name__ == "__main__":
    main()
