"""Delivery of a healed file."""

import hashlib
from pathlib import Path

from greenloop.errors import InputError, OutputError
from greenloop.records import Report
from greenloop.scripts.source_file import SourceFile
from greenloop.workflow.delivery import back_up_original, deliver_produced_files, with_artifacts
from greenloop.workflow.heal.request import HealRequest, HealScriptRequest
from greenloop.workflow.kind import Consent, keep_replaced
from greenloop.workflow.storage.run_dir import RunDirectory


def deliver_healed_script(
    report: Report, request: HealScriptRequest, directory: RunDirectory, consent: Consent
) -> Report:
    """Write the healed script and the files that it produced. Raises OutputError."""
    report = deliver_healed_file(report, request, directory, consent)
    return deliver_produced_files(report, request.script.artifacts, directory)


def deliver_healed_file(
    report: Report, request: HealRequest, directory: RunDirectory, consent: Consent
) -> Report:
    """Write the healed file over the original or to `--output`, in the original's encoding.

    A copy of the original is kept in the run directory. The user may decline.
    Raises OutputError: the file changed while it was being healed, or cannot be written.
    """
    original = request.original
    if report.final_code == original.text:
        return report
    keep_replaced(request, directory, consent)
    source = _read_unchanged(original.path, original.sha256)
    target = Path(request.output or original.path)
    is_approved = request.write or request.output or consent.is_reviewed
    text = source.restore_header(report.final_code)
    if not is_approved and not consent.confirm_write(target, text):
        return report
    kept = back_up_original(directory, Path(original.path))
    source.write(target, report.final_code)
    return with_artifacts(report, output=str(target), original=str(kept))


def _read_unchanged(path: str, sha256: str) -> SourceFile:
    try:
        found = SourceFile.from_path(Path(path))
        same = hashlib.sha256(Path(path).read_bytes()).hexdigest() == sha256
    except (InputError, OSError) as error:
        raise OutputError(f"{path} cannot be read again: {error}; nothing was written") from None
    if not same:
        raise OutputError(f"{path} was changed while it was being healed; nothing was written")
    return found
