"""What a sandbox is, to everybody else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Protocol

from greenloop.records import Expectation, SandboxInfo, TestRun
from greenloop.suite import TestFile

AskedForm = Literal["shared", "split", "best"]


@dataclass(frozen=True)
class Answers:
    """What a module answered to calls: per call its raw event, None where none came.

    `trouble` says why not all came ('' where all did).
    """

    events: tuple[dict[str, Any] | None, ...]
    trouble: str = ""


class Sandbox(Protocol):
    """Runs foreign code apart from this process. Usable from several threads at once."""

    @property
    def info(self) -> SandboxInfo: ...

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
        """Runs tests on a module's source in a fresh working folder.

        `module` is found from the tests' imports where it is left out. With `expected`, the run
        passes only if exactly these tests report. `order_seed` shuffles the tests.

        `form` "split" keeps tests and code in two processes, so that the code cannot forge the
        verdict; not all tests can be run so. "best" tries that first and then "shared", both in
        one process; `TestRun.form` says which it was.

        Raises:
            SandboxError: no process can be started; "split" was asked for where there is no wall,
                or with a hash seed.
        """
        ...

    def answer_calls(self, code: str, module: str, calls: Sequence[str]) -> Answers:
        """Evaluates call expressions over the module's names; values come back tagged."""
        ...

    def interrupt(self) -> None:
        """Ends everything that is running now; those runs end as `interrupted`."""
        ...

    def close(self) -> None: ...

    def __enter__(self) -> Sandbox: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
