"""Older Landlock versions: the strict filter covers what a version does not."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from greenloop.sandbox import guest
from greenloop.sandbox.guest.isolation import landlock
from tests.support.programs import read_program

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not landlock.version(), reason="this kernel has no Landlock"
)
_CODE = read_program(__file__, "_CODE")
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
