"""Time and size of an installation from nothing: greenloop, and greenloop-check, which has no model.

    python bench/install.py [--rounds N]

Each is installed by uv into an empty environment with an empty cache, in turns; then `greenloop check`
of a small module is run in it. Printed are the medians, and the ratios.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
SOURCES = {"greenloop": ROOT, "greenloop-check": ROOT / "distributions" / "check"}
CODE = "def add(a, b):\n    return a + b\n"
TESTS = "from m import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"


def run(*command: str | Path, cwd: Path, **environment: str) -> float:
    """Return the seconds that a command took. Raises CalledProcessError where it fails."""
    started = time.perf_counter()
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(command, cwd=cwd, env=kept | environment, check=True, capture_output=True)
    return time.perf_counter() - started


def install(uv: str, wheel: Path, folder: Path) -> tuple[float, float, float]:
    """Return the seconds of the installation, its MB, and the seconds of a first `check`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    cache, venv = {"UV_CACHE_DIR": str(folder / "cache")}, folder / "venv"
    seconds = run(uv, "venv", "--python", sys.executable, venv, cwd=folder, **cache)
    python = venv / "bin" / "python"
    seconds += run(uv, "pip", "install", "--python", python, wheel, cwd=folder, **cache)
    size = sum(item.stat().st_size for item in venv.rglob("*") if item.is_file()) / 1e6
    (folder / "m.py").write_text(CODE)
    (folder / "test_m.py").write_text(TESTS)
    return seconds, size, run(venv / "bin" / "greenloop", "check", "m.py", "test_m.py", cwd=folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    uv = shutil.which("uv") or sys.exit("install uv first: pip install uv")
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        wheels = {}
        for kind, source in SOURCES.items():
            target = root / f"{kind}-wheel"
            run(uv, "build", "--wheel", "--out-dir", target, source, cwd=root)
            (wheels[kind],) = target.glob("*.whl")
        seen: dict[str, list[tuple[float, float, float]]] = {kind: [] for kind in SOURCES}
        for _ in range(rounds):
            for kind, wheel in wheels.items():
                seen[kind].append(install(uv, wheel, root / kind))
        middle = {
            kind: [median(item) for item in zip(*rows, strict=True)] for kind, rows in seen.items()
        }
    for kind, (seconds, size, check) in middle.items():
        print(f"{kind:16} {seconds:5.1f} s  {size:4.0f} MB  first check {check:.1f} s")
    whole, small = middle.values()
    print(f"ratio            {whole[0] / small[0]:5.1f}    {whole[1] / small[1]:4.1f}")


if __name__ == "__main__":
    main()
