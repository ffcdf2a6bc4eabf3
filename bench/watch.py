"""Time from a save to the grade that `greenloop check --watch` shows.

    python bench/watch.py [--rounds N]

A terminal of its own runs the command on modules of `bench/mutation_corpus` and on one of two lines; each
round adds a comment to the module. Printed are the medians of the seconds from the save to the
screen. The command looks for saves several times a second, which is contained.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path
from statistics import median

CORPUS = Path(__file__).parent / "mutation_corpus"
TINY = (
    "def double(x):\n    return 2 * x\n",
    "from tiny import double\n\n\ndef test_double():\n    assert double(3) == 6\n",
)
GRADED = re.compile(rb"the next save begins a check")
LIMIT_S = 60.0


class Terminal:
    """A command in a pseudo-terminal, with its output since the last match."""

    def __init__(self, folder: Path, *command: str) -> None:
        self.pid, self.handle = pty.fork()
        if not self.pid:
            os.chdir(folder)
            os.execv(sys.executable, [sys.executable, "-m", "greenloop", *command])
        size = struct.pack("HHHH", 40, 120, 0, 0)
        fcntl.ioctl(self.handle, termios.TIOCSWINSZ, size)
        self.seen = b""

    def wait_for(self, pattern: re.Pattern[bytes]) -> float:
        """Return the time at which a pattern was first seen, and drop the output up to it."""
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            if found := pattern.search(self.seen):
                self.seen = self.seen[found.end() :]
                return time.monotonic()
            if select.select([self.handle], [], [], 0.5)[0]:
                self.seen += os.read(self.handle, 65536)
        raise SystemExit(f"nothing was shown in {LIMIT_S} s: {self.seen[-500:]!r}")

    def close(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def measure(folder: Path, module: str, rounds: int) -> float:
    """Return the median of the seconds to the grade."""
    code = folder / f"{module}.py"
    terminal = Terminal(folder, "check", "--watch", code.name, f"test_{module}.py")
    try:
        terminal.wait_for(GRADED)
        times = []
        for number in range(rounds):
            time.sleep(1.0)
            terminal.seen = b""
            code.write_text(f"{code.read_text()}# {number}\n")
            saved = time.monotonic()
            times.append(terminal.wait_for(GRADED) - saved)
    finally:
        terminal.close()
    return median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path in CORPUS.glob("*.py"):
            shutil.copy(path, folder)
        (folder / "tiny.py").write_text(TINY[0])
        (folder / "test_tiny.py").write_text(TINY[1])
        for module in ("tiny", "numerals", "stock", "texts", "spans", "formulas"):
            lines = len((folder / f"{module}.py").read_text().splitlines())
            graded = measure(folder, module, rounds)
            print(f"{module:10} {lines:4} lines  grade {graded:5.2f} s")


if __name__ == "__main__":
    main()
