"""Older Landlock versions: the strict filter covers what a version does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from greenloop.sandbox import guest
from greenloop.sandbox.guest.isolation import landlock

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not landlock.version(), reason="this kernel has no Landlock"
)
_CODE = """
import json, os, signal, sys
sys.path[:0] = [sys.argv[1]]
from guest.isolation import landlock, landlock_run

level, folder, outside, victim = int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])
landlock_run.version = landlock.version = lambda: level
landlock_run.confine({"readable": ["/usr", sys.base_prefix, os.path.dirname(outside)], "root": folder,
              "own_user": False, "user": None})


def tried(action, *arguments):
    try:
        result = action(*arguments)
        return f"allowed: {result!r}"
    except OSError as error:
        return "refused"


def reads(path):
    with open(path) as file:
        return file.read()


def writes(path):
    with open(path, "w") as file:
        file.write("new")


print(json.dumps({
    "reads": tried(reads, outside),
    "writes": tried(writes, outside),
    "truncates": tried(os.truncate, outside, 0),
    "empties": tried(os.open, outside, os.O_RDONLY | os.O_TRUNC),
    "empties oddly": tried(os.open, outside, 3 | os.O_TRUNC),
    "moves": tried(os.rename, outside, folder + "/moved"),
    "links": tried(os.link, outside, folder + "/linked"),
    "removes": tried(os.unlink, outside),
    "kills": tried(os.kill, victim, signal.SIGKILL),
    "asks": tried(os.kill, victim, 0),
    "forks": tried(os.fork),
    "own": [tried(writes, folder + "/own"), tried(reads, folder + "/own")],
    "own pid": tried(os.kill, os.getpid(), 0),
    "listed": tried(os.listdir, "/"),
}))
"""
REFUSED = "writes truncates empties moves links removes kills asks forks listed".split()


@pytest.mark.parametrize("level", range(1, 8))
def test_host_is_unchanged_at_every_version(level: int, tmp_path: Path) -> None:
    if level > landlock.version():
        pytest.skip(f"this kernel's Landlock is of level {landlock.version()}")
    results = run_confined(level, tmp_path)
    assert {name: results[name] for name in REFUSED} == dict.fromkeys(REFUSED, "refused")
    assert results["empties oddly"] == "refused"
    assert results["reads"] == "allowed: 'secret'"
    assert results["own"] == ["allowed: None", "allowed: 'new'"]
    assert results["own pid"] == "allowed: None"


def run_confined(level: int, tmp_path: Path) -> dict[str, Any]:
    """Return the results of a confined process, after checking the file and the other process."""
    folder, elsewhere = tmp_path / "own", tmp_path / "elsewhere"
    for made in (folder, elsewhere):
        made.mkdir()
    (elsewhere / "file").write_text("secret")
    parent = str(Path(guest.__file__).parent.parent)
    with subprocess.Popen(["sleep", "60"]) as victim:
        arguments = [parent, str(level), str(folder), str(elsewhere / "file"), str(victim.pid)]
        python = os.path.realpath(sys.executable)
        done = subprocess.run(
            [python, "-I", "-S", "-B", "-c", _CODE, *arguments],
            capture_output=True,
            text=True,
            timeout=30,
        )
        assert victim.poll() is None
        victim.kill()
    assert (elsewhere / "file").read_text() == "secret"
    assert os.listdir(elsewhere) == ["file"]
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads(done.stdout)
    return results


def test_kernel_without_landlock_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: 0)
    with pytest.raises(OSError, match="no Landlock"):
        landlock.restrict([], [])
