"""Packages of the guest: bytecode for those that it loads, and what else is mounted."""

from __future__ import annotations

import subprocess
import sys


def test_a_zygote_starts_before_the_slow_modules_are_imported() -> None:
    script = (
        "import sys\n"
        "import greenloop.sandbox.opening\n"
        "from greenloop.sandbox.backends.mounts import build_guest_mounts\n"
        "build_guest_mounts()\n"
        "print(*{'importlib.metadata', 'email', 'compileall', 'inspect'} & sys.modules.keys())\n"
    )
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == ""
