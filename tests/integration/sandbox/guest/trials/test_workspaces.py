"""What a process has in common with those beside it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from greenloop.sandbox import guest

SCRIPT = """
import os, socket, sqlite3, sys, tempfile
sys.path.insert(0, {home!r})
from guest.trials.workspaces import OutsideUse

outside = OutsideUse()
outside.watch()
name = {outside!r}
{code}
print(outside.is_seen, outside.starts_processes)
"""
FIXED_PORT = """
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
assert not outside.is_seen
socket.socket().bind(("127.0.0.1", port))
"""


@pytest.mark.parametrize(
    ("code", "is_seen"),
    [
        ("socket.socket().bind(('127.0.0.1', 0))", False),
        (FIXED_PORT, True),
        ("socket.socket(socket.AF_UNIX).bind('own')", False),
        ("socket.socket(socket.AF_UNIX).bind(name)", True),
        ("socket.socket(socket.AF_UNIX).bind(b'\\0greenloop-' + os.urandom(8))", True),
        ("open('own', 'w').close()", False),
        ("open('../tmp', 'w').close()", False),  # the folder of temporary files is beside
        ("open(__import__('os').__file__).close(); open(os.devnull, 'w').close()", False),
        ("open(name, 'w').close()", True),
        ("open(name, 'ab').close()", True),
        ("os.close(os.open(name, os.O_RDWR | os.O_CREAT))", True),
        ("os.mkdir(name)", True),
        ("os.mkdir('own')", False),
        ("sqlite3.connect(name)", True),
        ("sqlite3.connect(':memory:')", False),
        ("open(os.open('own', os.O_CREAT | os.O_WRONLY), 'w').close()", False),
    ],
)
def test_fixed_ports_and_files_outside_are_noticed(
    tmp_path: Path, code: str, is_seen: bool
) -> None:
    assert run_watched(tmp_path, code) == f"{is_seen} False"


@pytest.mark.parametrize(
    "code",
    [
        "__import__('subprocess').run(['true'])",
        "os.system('true')",
        "os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)",
        "if not os.fork(): os._exit(0)",
    ],
)
def test_started_processes_are_noticed(tmp_path: Path, code: str) -> None:
    assert run_watched(tmp_path, code).endswith(" True")


def run_watched(tmp_path: Path, code: str) -> str:
    """Return what was noticed while the code was running in a workspace."""
    work = tmp_path / "slot" / "work"
    work.mkdir(parents=True)
    home = str(Path(guest.__file__).parent.parent)
    script = SCRIPT.format(home=home, outside=str(tmp_path / "outside"), code=code)
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, cwd=work, capture_output=True, text=True, check=True)
    return run.stdout.strip()
