"""Exchange with a container, here with a script in place of the engine that only answers."""

import sys
import threading
from pathlib import Path

import pytest

from greenloop.errors import SandboxError
from greenloop.records import ScriptJob
from greenloop.sandbox.backends.container import container
from greenloop.sandbox.backends.container.backend import ContainerSandbox
from greenloop.sandbox.backends.container.runtime import ContainerEngine
from greenloop.sandbox.guest.protocol import framing
from tests.support.programs import read_program

_ANSWERING_ENGINE = read_program(__file__, "_ANSWERING_ENGINE")
HEAD = {"ending": "finished", "status": 0, "hit": ["memory"], "cut": ["errors"]}


def engine(folder: Path, head: dict[str, object]) -> ContainerEngine:
    program = folder / "engine"
    guest = str(Path(framing.__file__).parents[1])
    program.write_text(_ANSWERING_ENGINE.format(python=sys.executable, guest=guest, head=head))
    program.chmod(0o755)
    return ContainerEngine("docker", str(program), "1", "image")


def test_result_and_artifacts_of_a_script_are_received(tmp_path: Path) -> None:
    with ContainerSandbox(engine(tmp_path, HEAD)) as box:
        runs = [box.run_script(ScriptJob(script="pass")) for _ in range(2)]
    for run in runs:
        assert (run.ending, run.exit_status, run.stdout) == ("finished", 0, "output")
        assert (run.stderr, run.stderr_cut, run.stdout_cut) == ("errors", True, False)
        assert (run.changed_inputs, run.limits_hit) == (("script.py",), ("memory",))


def test_run_without_artifacts_has_its_stack_dump(tmp_path: Path) -> None:
    head = {"ending": "timeout", "status": -9, "hit": ["memory"]}
    with ContainerSandbox(engine(tmp_path, head)) as box:
        run = box.run_tests("X = 1", "from m import X\n")
    assert (run.ending, run.output, run.limits_hit) == (
        "timeout",
        "output",
        ("wall time", "memory"),
    )


def test_error_of_the_guest_is_raised(tmp_path: Path) -> None:
    with (
        ContainerSandbox(engine(tmp_path, {"trouble": "no more memory"})) as box,
        pytest.raises(SandboxError, match="docker: no more memory"),
    ):
        box.run_tests("X = 1", "from m import X\n")


def test_run_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "_EXIT_SECONDS", 0.5)
    waiting = engine(tmp_path, HEAD)
    program = Path(waiting.program)
    program.write_text(
        program.read_text().replace("head = {", "import time; time.sleep(60); head = {")
    )
    with ContainerSandbox(waiting) as box:
        threading.Timer(0.5, box.interrupt).start()
        assert box.run_tests("X = 1", "from m import X\n").ending == "interrupted"
