"""Checklist of a script: the user's checks, and those that a model proposed."""

from dataclasses import dataclass, replace

from greenloop.records import Failure, HeldOutExample, Origin, OutputCheck, TestOutcome, TestRun
from greenloop.testsuite.suite import DroppedTest

PREVIOUS_OUTPUT_CHECK = "prints what it printed before"


def with_lost_output(run: TestRun, check: str, message: str) -> TestRun:
    """Return the run with one check failed, because output was lost."""
    failure = Failure(test=check, phase="call", exception="LostOutput", message=message)
    others = tuple(item for item in run.tests if item.id != check)
    return run.model_copy(
        update={
            "tests": (*others, TestOutcome(id=check, outcome="failed")),
            "failures": (*run.failures, failure),
        }
    )


@dataclass(frozen=True)
class Checklist:
    """The checks of a run, with the interface of a test suite for loop and report."""

    checks: tuple[OutputCheck, ...]
    dropped: tuple[DroppedTest, ...] = ()
    own_file: str = "script.py"
    file_name: str = ""
    code: str = ""
    held_out: tuple[HeldOutExample, ...] = ()

    def owns(self, path: str) -> bool:
        """Return whether a file of a traceback is the script's."""
        return path == self.own_file

    def name_of(self, test: str) -> str | None:
        """Return the check's id, None if there is no such check."""
        found = self._find(test)
        return found.id if found else None

    def source(self, test: str) -> str:
        """Return the check as the judge reads it, '' if there is no such check."""
        return self.name_of(test) or ""

    def origin(self, test: str) -> Origin:
        found = self._find(test)
        return found.origin if found else "given"

    def requirements(self, test: str) -> tuple[str, ...]:
        return ()

    def may_be_disputed(self, test: str) -> bool:
        """Return whether a model proposed the check: those of the user are locked."""
        found = self._find(test)
        return found is not None and found.origin == "generated"

    def is_active(self, test: str) -> bool:
        return all(item.name != test for item in self.dropped)

    def drop(self, test: str, why: str, *, disputed: bool) -> "Checklist":
        """Drop a check and keep the reason. A locked check is not dropped."""
        if not self.may_be_disputed(test):
            return self
        gone = DroppedTest(test, (), self.origin(test), why, disputed)
        kept = tuple(item for item in self.checks if item.id != test)
        return replace(self, checks=kept, dropped=(*self.dropped, gone))

    def _find(self, test: str) -> OutputCheck | None:
        return next((item for item in self.checks if item.id == test), None)
