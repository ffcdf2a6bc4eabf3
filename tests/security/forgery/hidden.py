"""What a module really is: plain pytest on its tests, and calls that these tests do not make.

Both run in a new interpreter of the sandbox, without anything of greenloop; calls of modules that
recognise the sandbox run in an ordinary program.
"""

import subprocess
import sys
from pathlib import Path

from greenloop.records import InputFile, ScriptJob, ScriptRun
from greenloop.sandbox import Sandbox
from tests.security.forgery.case import Subject
from tests.support.programs import read_program

_PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_m.py")
_ASK = read_program(__file__, "_ASK")


def is_green(box: Sandbox, code: str, tests: str) -> tuple[bool, str]:
    """Return whether plain pytest ends with status 0, and its output."""
    run = _run_python(box, _PYTEST, {"m.py": code, "test_m.py": tests})
    return run.ending == "finished" and run.exit_status == 0, run.stdout + run.stderr


def is_wrong(box: Sandbox, code: str, subject: Subject) -> bool:
    """Return whether a hidden call is not answered as the correct module answers it."""
    ask = ("-c", _ASK.format(calls=subject.hidden))
    right, other = (_run_python(box, ask, {"m.py": text}) for text in (subject.right, code))
    assert right.exit_status == 0, right.stderr
    return other.stdout != right.stdout


def is_wrong_in_a_program(code: str, subject: Subject, folder: Path) -> bool:
    """Return the same of a program outside the sandbox: only for modules that do no harm."""
    (folder / "program.py").write_text(_ASK.format(calls=subject.hidden), "utf-8")
    outputs = []
    for text in (subject.right, code):
        (folder / "m.py").write_text(text, "utf-8")
        command = [sys.executable, "-B", "program.py"]
        run = subprocess.run(command, cwd=folder, env={}, capture_output=True, check=True)
        outputs.append(run.stdout)
    return outputs[0] != outputs[1]


def _run_python(box: Sandbox, arguments: tuple[str, ...], files: dict[str, str]) -> ScriptRun:
    script = f"import os, sys\nos.execv(sys.executable, [sys.executable, *{arguments!r}])\n"
    inputs = tuple(InputFile(path=name, content=text.encode()) for name, text in files.items())
    return box.run_script(ScriptJob(script=script, inputs=inputs))
