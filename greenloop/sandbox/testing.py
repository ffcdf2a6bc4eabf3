"""What all sandboxes have in common: from code and tests to work for a process, and back."""

from __future__ import annotations

import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal

from greenloop.records import Expectation, SandboxInfo, TestRun
from greenloop.sandbox.bounded import Ended
from greenloop.sandbox.box import Answers, AskedForm
from greenloop.sandbox.forms import run_in_form
from greenloop.sandbox.protocol import events, test_run
from greenloop.sandbox.tested import tested_module
from greenloop.suite import TestFile


@dataclass(frozen=True)
class Limits:
    """Per run: wall seconds; bytes of memory (one process, all together), of output, of disk."""

    timeout_s: float = 30.0
    memory_bytes: int = 2048 << 20
    total_bytes: int = 2048 << 20
    output_bytes: int = 4096 << 10
    kept_bytes: int = 64 << 10
    result_bytes: int = 8 << 20
    file_bytes: int = 64 << 20
    disk_bytes: int = 64 << 20
    shared_bytes: int = 16 << 20
    inodes: int = 4096
    open_files: int = 256
    processes: int = 64

    def inside(self) -> dict[str, int]:
        """The same for the inside, in whole numbers."""
        counted = {name: value for name, value in vars(self).items() if name != "timeout_s"}
        wall_ms, cpu_seconds = int(self.timeout_s * 1000), int(self.timeout_s) + 2
        return {**counted, "wall_ms": wall_ms, "cpu_seconds": cpu_seconds}


@dataclass(frozen=True)
class Work:
    """One run: its files (name, text), what is to be done with them, and the key of its reports."""

    kind: Literal["tests", "calls", "split"]
    files: tuple[tuple[str, str], ...]
    job: dict[str, Any]
    hash_seed: int = 0
    code: tuple[tuple[str, str], ...] = ()  # of a split run: the files of the other process
    key: str = field(default_factory=lambda: secrets.token_hex(8))

    def __post_init__(self) -> None:
        names = [name for name, _ in (*self.files, *self.code)]
        for name in names:
            if "/" in name or "\0" in name or name in ("", ".", ".."):
                raise ValueError(f"not a plain file name: {name!r}")
            if names.count(name) > 1:
                raise ValueError(f"two files of the name {name!r}")


class TestingSandbox(ABC):
    """Everything but how a process is made. Safe to use from several threads."""

    __test__ = False

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._stop = threading.Event()

    @property
    @abstractmethod
    def info(self) -> SandboxInfo: ...

    @property
    def splits(self) -> bool:
        """Whether tests and code can be kept in two processes that cannot reach each other."""
        return False

    @abstractmethod
    def _execute(self, work: Work, stop: threading.Event) -> Ended:
        """Does the work in a process of its own. Raises SandboxError where there can be none."""

    def run_tests(
        self,
        code: str,
        tests: str | Sequence[TestFile],
        *,
        module: str | None = None,
        expected: Expectation | None = None,
        order_seed: int | None = None,
        hash_seed: int = 0,
        form: AskedForm = "shared",
    ) -> TestRun:
        """See `Sandbox.run_tests`. Raises SandboxError where no process can be started."""
        stop = self._stop
        if isinstance(tests, str):
            module = module or tested_module(tests)
            tests = [TestFile(f"test_{module}.py", tests)]
        elif not tests:
            raise ValueError("no test file was given")
        module = module or tested_module(tests[0].code)
        files = tuple((item.name, item.code) for item in tests)
        job = {"targets": [item.name for item in tests], "order_seed": order_seed}
        own = ((f"{module}.py", code),)

        def shared() -> TestRun:
            work = Work("tests", (*own, *files), job, hash_seed)
            return test_run(self._execute(work, stop), expected, work.key)

        def split() -> TestRun:
            work = Work("split", files, {**job, "module": module}, code=own)
            return test_run(self._execute(work, stop), expected, work.key)

        return run_in_form(form, shared, split if self.splits and not hash_seed else None)

    def answer_calls(self, code: str, module: str, calls: Sequence[str]) -> Answers:
        """See `Sandbox.answer_calls`. Raises SandboxError where no process can be started."""
        stop = self._stop
        job = {"module": module, "calls": list(calls)}
        work = Work("calls", ((f"{module}.py", code),), job)
        return _answers(self._execute(work, stop), len(calls), work.key)

    def interrupt(self) -> None:
        """See `Sandbox.interrupt`; later runs are not concerned."""
        running, self._stop = self._stop, threading.Event()
        running.set()

    def close(self) -> None:
        self.interrupt()

    def __enter__(self) -> TestingSandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def environment(home: str, temporary: str, hash_seed: int) -> dict[str, str]:
    """Everything that a run gets to see: nothing is taken over from the host."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": temporary,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


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
