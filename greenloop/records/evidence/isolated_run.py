"""The tests with the code in another process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from greenloop.records.evidence.base import EvidenceRow, Needed, Piece, format_items
from greenloop.records.evidence.thresholds import Thresholds
from greenloop.records.pytest_run import ProcessMode


class IsolatedRun(Piece):
    """The tests run where they and the code are two processes.

    `reached`: all pass there too (`form` is "split" then). Else their green is that of one process,
    and `why` says what went wrong in two. `own_equality` names the tests that passed because of the
    code's own `==`; `only_beside` those that got another value from the code in two processes.
    """

    title: ClassVar[str] = "isolation"
    measured_by: ClassVar[str] = "greenloop.grading.process_isolation:measure"
    needed: ClassVar[Needed] = "where measured"

    reached: bool
    form: ProcessMode
    why: str = ""
    own_equality: tuple[str, ...] = ()
    only_beside: tuple[str, ...] = ()

    def summary(self, thresholds: Thresholds) -> Iterator[EvidenceRow]:
        """Yield one row; tests that need one process are not measured, and no shortfall."""
        if self.only_beside:
            text = f"passes only in the process of its tests: {format_items(self.only_beside)}"
            yield EvidenceRow(self.title, False, text, "DIFFERS")
        elif not self.reached:
            yield EvidenceRow(self.title, None, f"in one process only: {self.why}")
        else:
            text = "the tests also pass with the code in another process"
            if self.own_equality:
                text += f"; {len(self.own_equality)} by the code's own =="
            yield EvidenceRow(self.title, True, text, "agrees")
