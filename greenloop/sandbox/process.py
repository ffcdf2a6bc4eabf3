"""The plainest sandbox: a process of its own, a clean environment, limits. No wall.

It keeps this machine's environment variables (so its keys) out of the code, bounds time, memory
and output, and takes no verdict from an exit status. It does not keep files or the network out of
reach: `info` says so, and so does the screen. What else a wall would give and this does not:

- `/proc/<parent>/environ` is a file within reach, and holds what this process was started with.
- Processes that leave the group (`setsid`) are found by their environment and ended after the run;
  one that cleans its environment too stays alive. The number of processes is not limited.
- Memory is limited for each process, disk for each file, not for all of them together.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from greenloop.errors import SandboxError
from greenloop.records import Expectation, SandboxInfo, TestRun
from greenloop.sandbox import inside
from greenloop.sandbox.bounded import Bounds, Ended, run_bounded
from greenloop.sandbox.box import Answers
from greenloop.sandbox.leftovers import end_strays, remove
from greenloop.sandbox.protocol import events, test_run
from greenloop.sandbox.tested import tested_module
from greenloop.suite import TestFile

__all__ = ["Limits", "ProcessSandbox", "tested_module"]

_INFO = SandboxInfo(
    backend="process",
    isolation=(
        "weak: clean environment and limits only; this machine's files and network are in reach"
    ),
)


@dataclass(frozen=True)
class Limits:
    """Per run: wall seconds, memory of one process and output in bytes."""

    timeout_s: float = 30.0
    memory_bytes: int = 2048 * 1024 * 1024
    output_bytes: int = 4096 * 1024
    file_bytes: int = 64 * 1024 * 1024
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
        stop = self._stop
        if isinstance(tests, str):
            module = module or tested_module(tests)
            tests = [TestFile(f"test_{module}.py", tests)]
        elif not tests:
            raise ValueError("no test file was given")
        module = module or tested_module(tests[0].code)
        with self._room() as room:
            files = [(f"{module}.py", code), *((item.name, item.code) for item in tests)]
            _write(room.work, files)
            targets = [item.name for item in tests]
            job = {"targets": targets, "ini": str(room.ini), "order_seed": order_seed}
            ended = self._run(room, "run_pytest.py", job, hash_seed, stop)
        return test_run(ended, expected, room.key)

    def answer_calls(self, code: str, module: str, calls: Sequence[str]) -> Answers:
        """See `Sandbox.answer_calls`. Raises SandboxError where no process can be started."""
        stop = self._stop
        with self._room() as room:
            _write(room.work, [(f"{module}.py", code)])
            job = {"module": module, "calls": list(calls)}
            ended = self._run(room, "answer_calls.py", job, 0, stop)
        return _answers(ended, len(calls), room.key)

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
            root = Path(tempfile.mkdtemp(prefix="greenloop-")).resolve()
        except OSError as error:
            raise SandboxError(f"no temporary directory for the tests: {error}") from None
        try:
            yield _Room.make(root)
        finally:
            end_strays(f"HOME={root}/home")
            remove(root)

    def _run(
        self,
        room: _Room,
        script: str,
        job: dict[str, Any],
        hash_seed: int,
        stop: threading.Event,
    ) -> Ended:
        folder = Path(inside.__file__).parent
        place = {"work": str(room.work), "key": room.key}
        content = {**job, **place, "limits": self._limits.inside()}
        room.job.write_text(json.dumps(content), encoding="utf-8")
        command = [sys.executable, "-s", "-B", str(folder / "start.py")]
        bounds = Bounds(self._limits.timeout_s, self._limits.output_bytes)
        try:
            return run_bounded(
                [*command, str(room.job), "{fd}", str(folder / script)],
                folder=room.work,
                environment=_environment(room, hash_seed),
                bounds=bounds,
                stop=stop,
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
    key: str = field(kw_only=True)

    @classmethod
    def make(cls, root: Path) -> _Room:
        names = ("work", "home", "tmp", "job.json", "pytest.ini")
        room = cls(*(root / name for name in names), key=secrets.token_hex(8))
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


def _write(folder: Path, files: Sequence[tuple[str, str]]) -> None:
    for name, text in files:
        if "/" in name or name in ("", ".", ".."):
            raise ValueError(f"not a plain file name: {name!r}")
        if (folder / name).exists():
            raise ValueError(f"two files of the name {name!r}")
        (folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))


def _answers(ended: Ended, count: int, key: str) -> Answers:
    """One event a call, the first that came for it; the numbers come from foreign code."""
    heard, whole = events(ended.result, key)
    answers: dict[int, dict[str, Any]] = {}
    for item in heard:
        number = item.get("call")
        if item.get("event") == "answer" and type(number) is int:
            answers.setdefault(number, item)
    closed = whole and bool(heard) and heard[-1].get("event") == "end"
    trouble = "" if ended.ending == "finished" and closed else _trouble(ended)
    return Answers(tuple(answers.get(number) for number in range(count)), trouble)


def _trouble(ended: Ended) -> str:
    last = ended.output.decode("utf-8", "replace").strip().rpartition("\n")[2]
    said = f": {last[:300]}" if last else ""
    return f"the calls did not come to an end ({ended.ending}, status {ended.status}){said}"
