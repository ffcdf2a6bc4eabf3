"""The kinds of runs."""

import json
from typing import Any, Final

from greenloop.errors import InputError
from greenloop.records import Report
from greenloop.workflow.change.delivery import deliver_change
from greenloop.workflow.change.estimate import estimate_change
from greenloop.workflow.change.request import ChangeRequest
from greenloop.workflow.change.strategy import ChangeStrategy
from greenloop.workflow.check.request import CheckRequest
from greenloop.workflow.check.strategy import CheckStrategy
from greenloop.workflow.delivery import deliver, deliver_produced_files
from greenloop.workflow.heal.delivery import deliver_healed_file, deliver_healed_script
from greenloop.workflow.heal.module import HealModuleStrategy
from greenloop.workflow.heal.request import HealModuleRequest, HealScriptRequest
from greenloop.workflow.heal.script import HealScriptStrategy
from greenloop.workflow.kind import Consent, Kind, deliver_outputs
from greenloop.workflow.make.estimate import estimate_make
from greenloop.workflow.make.locked_delivery import deliver_locked
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.make.strategy import MakeStrategy
from greenloop.workflow.script.request import ScriptRequest
from greenloop.workflow.script.strategy import WriteScriptStrategy
from greenloop.workflow.storage.request import RunRequest, digest
from greenloop.workflow.storage.run_dir import RunDirectory


def _deliver_module(
    report: Report, request: MakeRequest, directory: RunDirectory, consent: Consent
) -> Report:
    """Write code, tests and lock. Raises OutputError, also for files edited by hand."""
    if request.output is None:
        return deliver(report, request)
    force = request.force or consent.is_reviewed
    return deliver_locked(report, request, directory, force=force)


def _deliver_script(
    report: Report, request: ScriptRequest, directory: RunDirectory, consent: Consent
) -> Report:
    """Write the script and the files that it produced. Raises OutputError."""
    report = deliver_outputs(report, request, directory, consent)
    return deliver_produced_files(report, request.script.artifacts, directory)


KINDS: Final[tuple[Kind[Any], ...]] = (
    Kind(MakeRequest, MakeStrategy, _deliver_module, estimate_make),
    Kind(CheckRequest, CheckStrategy),
    Kind(HealScriptRequest, HealScriptStrategy, deliver_healed_script),
    Kind(HealModuleRequest, HealModuleStrategy, deliver_healed_file),
    Kind(ScriptRequest, WriteScriptStrategy, _deliver_script),
    Kind(ChangeRequest, ChangeStrategy, deliver_change, estimate_change),
)


def find_kind(request: RunRequest) -> Kind[Any]:
    """Return the kind of a request."""
    return next(item for item in KINDS if isinstance(request, item.request))


def load_request(directory: RunDirectory) -> RunRequest:
    """Read the request of a run. Raises InputError: it is unreadable or was changed."""
    path = directory.request_file
    try:
        request = parse_request(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    for item in request.given:
        if digest(item.code) != item.sha256:
            raise InputError(f"{path}: the given tests {item.name} were changed")
    return request


def parse_request(text: str) -> RunRequest:
    """Parse the JSON of a request.

    Raises ValueError: it is no request of a known kind (also as pydantic's ValidationError).
    """
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError("a request is a JSON object")
    for item in KINDS:
        fields = item.request.model_fields
        required = {name for name, field in fields.items() if field.is_required()}
        if data.get("kind") == fields["kind"].default and required <= data.keys():
            request: RunRequest = item.request.model_validate_json(text)
            return request
    raise ValueError(f"unknown kind of request: {data.get('kind')!r}")
