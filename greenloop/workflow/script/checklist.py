"""What a script is held to: the person's checks, and those that were made of its task."""

from __future__ import annotations

from dataclasses import dataclass, replace

from greenloop.records import Failure, HeldOutExample, Origin, OutputCheck, TestOutcome, TestRun
from greenloop.testsuite.suite import DroppedTest

PREVIOUS_OUTPUT_CHECK = "prints what it printed before"


def with_failed_check(run: TestRun, check: str, exception: str, message: str) -> TestRun:
    """The run with one check of it failed."""
    failure = Failure(test=check, phase="call", exception=exception, message=message)
    others = tuple(item for item in run.tests if item.id != check)
    return run.model_copy(
        update={
            "tests": (*others, TestOutcome(id=check, outcome="failed")),
            "failures": (*run.failures, failure),
        }
    )


@dataclass(frozen=True)
class Checklist:
    """The checks of a run. It answers what the loop and the report ask of a suite of tests."""

    checks: tuple[OutputCheck, ...]
    dropped: tuple[DroppedTest, ...] = ()
    own_file: str = "script.py"
    file_name: str = ""
    code: str = ""
    held_out: tuple[HeldOutExample, ...] = ()

    def name_of(self, test: str) -> str | None:
        """The check's id, where there is such a check."""
        found = self._find(test)
        return found.id if found else None

    def source(self, test: str) -> str:
        """What the check asks for, as the judge reads it; '' where there is no such check."""
        found = self._find(test)
        return found.id if found else ""

    def origin(self, test: str) -> Origin:
        found = self._find(test)
        return found.origin if found else "given"

    def requirements(self, test: str) -> tuple[str, ...]:
        return ()

    def may_be_disputed(self, test: str) -> bool:
        """Only what the model proposed: the person's checks are locked."""
        found = self._find(test)
        return found is not None and found.origin == "generated"

    def is_active(self, test: str) -> bool:
        return all(item.name != test for item in self.dropped)

    def drop(self, test: str, why: str, *, disputed: bool) -> Checklist:
        """Without one check, which is remembered with the reason; what is locked stays."""
        if not self.may_be_disputed(test):
            return self
        gone = DroppedTest(test, (), self.origin(test), why, disputed)
        kept = tuple(item for item in self.checks if item.id != test)
        return replace(self, checks=kept, dropped=(*self.dropped, gone))

    def _find(self, test: str) -> OutputCheck | None:
        return next((item for item in self.checks if item.id == test), None)
