"""The plainest sandbox: a process of its own, a clean environment, limits. No wall.

It keeps this machine's environment variables (so its keys) out of the code, bounds time, memory
and output, and takes no verdict from an exit status. It does not keep files or the network out of
reach: `info` says so, and so does the screen.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any

from greenloop.errors import SandboxError
from greenloop.records import Expectation, SandboxInfo, TestRun
from greenloop.sandbox import inside
from greenloop.sandbox.bounded import Bounds, Ended, run_bounded
from greenloop.sandbox.box import Answers
from greenloop.sandbox.protocol import events, test_run
from greenloop.suite import TestFile

_INFO = SandboxInfo(
    backend="process",
    isolation=(
        "weak: own process group, clean environment, limits on time, memory and output; "
        "this machine's files and network are within reach"
    ),
)


@dataclass(frozen=True)
class Limits:
    """Per run: wall seconds, memory of one process and output in bytes."""

    timeout_s: float = 30.0
    memory_bytes: int = 2048 * 1024 * 1024
    output_bytes: int = 4096 * 1024
    file_bytes: int = 256 * 1024 * 1024
    open_files: int = 256

    def inside(self) -> dict[str, int]:
        """What the process puts on itself."""
        return {
            "memory_bytes": self.memory_bytes,
            "cpu_seconds": int(self.timeout_s) + 2,
            "file_bytes": self.file_bytes,
            "open_files": self.open_files,
        }


class ProcessSandbox:
    """See the module's text. Safe to use from several threads."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._stop = threading.Event()

    @property
    def info(self) -> SandboxInfo:
        return _INFO

    def run_tests(
        self,
        code: str,
        tests: str | Sequence[TestFile],
        *,
        module: str | None = None,
        expected: Expectation | None = None,
        order_seed: int | None = None,
        hash_seed: int = 0,
    ) -> TestRun:
        """See `Sandbox.run_tests`. Raises SandboxError where no process can be started."""
        module = module or tested_module(tests if isinstance(tests, str) else tests[0].code)
        files = [TestFile(f"test_{module}.py", tests)] if isinstance(tests, str) else list(tests)
        with self._room() as room:
            _write(room.work, {f"{module}.py": code, **{item.name: item.code for item in files}})
            targets = [item.name for item in files]
            job = {"targets": targets, "ini": str(room.ini), "order_seed": order_seed}
            return test_run(self._run(room, "run_pytest.py", job, hash_seed), expected)

    def answer_calls(self, code: str, module: str, calls: Sequence[str]) -> Answers:
        """See `Sandbox.answer_calls`. Raises SandboxError where no process can be started."""
        with self._room() as room:
            _write(room.work, {f"{module}.py": code})
            ended = self._run(room, "answer_calls.py", {"module": module, "calls": list(calls)}, 0)
        heard = events(ended.result)
        answers = {item.get("call"): item for item in heard if item.get("event") == "answer"}
        whole = ended.ending == "finished" and bool(heard) and heard[-1].get("event") == "end"
        trouble = "" if whole else f"the calls did not come to an end ({ended.ending})"
        return Answers(tuple(answers.get(number) for number in range(len(calls))), trouble)

    def interrupt(self) -> None:
        """See `Sandbox.interrupt`; later runs are not concerned."""
        running, self._stop = self._stop, threading.Event()
        running.set()

    def close(self) -> None:
        self.interrupt()

    def __enter__(self) -> ProcessSandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def _room(self) -> Iterator[_Room]:
        try:
            root = Path(tempfile.mkdtemp(prefix="greenloop-"))
        except OSError as error:
            raise SandboxError(f"no temporary directory for the tests: {error}") from None
        try:
            yield _Room.make(root)
        finally:
            _remove(root)

    def _run(self, room: _Room, script: str, job: dict[str, Any], hash_seed: int) -> Ended:
        folder = Path(inside.__file__).parent
        content = {**job, "work": str(room.work), "limits": self._limits.inside()}
        room.job.write_text(json.dumps(content), encoding="utf-8")
        command = [sys.executable, "-s", "-B", str(folder / "start.py")]
        bounds = Bounds(self._limits.timeout_s, self._limits.output_bytes)
        try:
            return run_bounded(
                [*command, str(room.job), "{fd}", str(folder / script)],
                folder=room.work,
                environment=_environment(room, hash_seed),
                bounds=bounds,
                stop=self._stop,
            )
        except OSError as error:
            raise SandboxError(f"the test process cannot be started: {error}") from None


@dataclass(frozen=True)
class _Room:
    """One run's temporary folder: the working folder, a home, a place for temporary files."""

    work: Path
    home: Path
    temporary: Path
    job: Path
    ini: Path

    @classmethod
    def make(cls, root: Path) -> _Room:
        root = root.resolve()
        room = cls(
            root / "work", root / "home", root / "tmp", root / "job.json", root / "pytest.ini"
        )
        for folder in (room.work, room.home, room.temporary):
            folder.mkdir()
        room.ini.write_text("[pytest]\n", encoding="utf-8")
        return room


def _environment(room: _Room, hash_seed: int) -> dict[str, str]:
    """Everything that the process gets to see: nothing is taken over from the host."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(room.home),
        "TMPDIR": str(room.temporary),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        if "/" in name or name in ("", ".", ".."):
            raise ValueError(f"not a plain file name: {name!r}")
        data = text.encode("utf-8", "surrogatepass")
        (folder / name).write_bytes(data)


def _remove(root: Path) -> None:
    """Takes the folder away, even where the code took its permissions away first."""

    def forced(_function: Any, path: str, _error: Any) -> None:
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), stat.S_IRWXU)
            os.chmod(path, stat.S_IRWXU, follow_symlinks=False)
        with contextlib.suppress(OSError):
            (os.rmdir if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)

    shutil.rmtree(root, onerror=forced)


def tested_module(test_code: str) -> str:
    """The module that a test file is about: its first import that is not installed here."""
    try:
        tree = ast.parse(test_code)
    except (SyntaxError, ValueError):
        return "solution"
    for node in ast.walk(tree):
        names = [item.name for item in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names = [node.module]
        for name in names:
            if not _is_installed(name.partition(".")[0]):
                return name.partition(".")[0]
    return "solution"


def _is_installed(name: str) -> bool:
    if name in sys.stdlib_module_names:
        return True
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False
