"""The kind of run that writes a script."""

from typing import Final

from greenloop.records import Report
from greenloop.workflow.delivery import deliver_produced_files
from greenloop.workflow.kind import Consent, Kind, deliver_outputs
from greenloop.workflow.script.request import ScriptRequest
from greenloop.workflow.script.strategy import WriteScriptStrategy
from greenloop.workflow.storage.run_dir import RunDirectory


def _deliver(
    report: Report, request: ScriptRequest, directory: RunDirectory, consent: Consent
) -> Report:
    """Write the script and the files that it produced. Raises OutputError."""
    report = deliver_outputs(report, request, directory, consent)
    return deliver_produced_files(report, request.script.artifacts, directory)


SCRIPT: Final = Kind(ScriptRequest, WriteScriptStrategy, _deliver)
