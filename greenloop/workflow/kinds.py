"""The kinds of runs."""

import json
from typing import Any, Final

from greenloop.errors import InputError
from greenloop.workflow.change.kind import CHANGE
from greenloop.workflow.check.kind import CHECK
from greenloop.workflow.heal.kind import HEAL_MODULE, HEAL_SCRIPT
from greenloop.workflow.kind import Kind
from greenloop.workflow.make.kind import MAKE
from greenloop.workflow.script.kind import SCRIPT
from greenloop.workflow.storage.request import RunRequest, digest
from greenloop.workflow.storage.run_dir import RunDirectory

KINDS: Final[tuple[Kind[Any], ...]] = (MAKE, CHECK, HEAL_SCRIPT, HEAL_MODULE, SCRIPT, CHANGE)


def find_kind(request: RunRequest) -> Kind[Any]:
    """Return the kind of a request."""
    return next(item for item in KINDS if isinstance(request, item.request))


def load_request(directory: RunDirectory) -> RunRequest:
    """Read the request of a run. Raises InputError where it is unreadable or was changed."""
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

    Raises:
        ValueError: it is no request of a known kind (pydantic's ValidationError is one too).
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
