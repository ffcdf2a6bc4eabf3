"""The kind of run that writes a module."""

from typing import Final

from greenloop.records import Report
from greenloop.workflow.delivery import deliver
from greenloop.workflow.kind import Consent, Kind
from greenloop.workflow.make.estimate import estimate_make
from greenloop.workflow.make.locked_delivery import deliver_locked
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.make.strategy import MakeStrategy
from greenloop.workflow.storage.run_dir import RunDirectory


def _deliver(
    report: Report, request: MakeRequest, directory: RunDirectory, consent: Consent
) -> Report:
    """Write code, tests and lock; what was edited by hand is refused. Raises OutputError."""
    if request.output is None:
        return deliver(report, request)
    force = request.force or consent.is_reviewed
    return deliver_locked(report, request, directory, force=force)


MAKE: Final = Kind(MakeRequest, MakeStrategy, _deliver, estimate_make)
