"""What a test run costs: as tutorials run it, with pytest alone, and in greenloop's sandboxes.

    python bench/sandbox.py [ROUNDS]

The ways take turns, so that a busy moment meets all of them. Wall time is measured around each run;
CPU time is that of the whole machine while it lasts (user and system), so run it on a quiet one.
Nothing but greenloop's walls isolates anything here.
"""

from __future__ import annotations

import os
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
from greenloop.settings import Settings

CODE = "def top_k(xs, k):\n    if k < 0:\n        raise ValueError(k)\n    return sorted(xs, reverse=True)[:k]\n"
TESTS = "import pytest\nfrom topk import top_k\n\n\n" + "".join(
    f"def test_{n}():\n    assert top_k([{n}, {n + 1}], 1) == [{n + 1}]\n\n\n" for n in range(20)
)
RAISES = "def test_negative():\n    with pytest.raises(ValueError):\n        top_k([1], -1)\n"
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass
class Way:
    """One way to run the suite, and what its runs took: (wall, CPU) in seconds."""

    name: str
    run: Callable[[], bool]
    taken: list[tuple[float, float]] = field(default_factory=list)

    def measure(self) -> None:
        cpu, wall = machine_cpu(), time.perf_counter()
        green = self.run()
        self.taken.append((time.perf_counter() - wall, machine_cpu() - cpu))
        if not green:
            raise SystemExit(f"{self.name}: the suite did not pass")

    def medians(self) -> tuple[float, float]:
        walls, cpus = zip(*self.taken, strict=True)
        return statistics.median(walls), statistics.mean(cpus)


def machine_cpu() -> float:
    """Seconds that all processors have worked so far."""
    fields = Path("/proc/stat").read_text().split("\n")[0].split()
    return (int(fields[1]) + int(fields[2]) + int(fields[3])) * _TICK_S


def tutorial(*, plugins: bool) -> Callable[[], bool]:
    """pytest in a subprocess with a copy of the environment, as tutorials do it."""
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


def ours(box: Sandbox) -> Callable[[], bool]:
    return lambda: box.run_tests(CODE, TESTS + RAISES).passed


def ways(stack: ExitStack) -> list[Way]:
    """All ways that this machine has."""
    found = [
        Way("tutorial: subprocess pytest, plugins of this environment", tutorial(plugins=True)),
        Way("subprocess pytest, no plugins", tutorial(plugins=False)),
    ]
    for kind in ("none", "landlock", "bubblewrap", "native"):
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
    base_wall, base_cpu = measured[0].medians()
    alone_wall, _ = measured[1].medians()
    print(f"21 tests, {rounds} rounds; wall: median, CPU: mean, ms; times faster than …")
    print(f"{'':56} {'wall':>7} {'CPU':>7} {'tutorial':>9} {'in CPU':>7} {'alone':>7}")
    for way in measured:
        wall, cpu = way.medians()
        cpu_ratio = f"{base_cpu / cpu:7.1f}" if cpu else "      –"
        print(
            f"{way.name:56} {wall * 1e3:7.1f} {cpu * 1e3:7.1f} {base_wall / wall:9.1f} {cpu_ratio} "
            f"{alone_wall / wall:7.1f}"
        )


if __name__ == "__main__":
    main()
