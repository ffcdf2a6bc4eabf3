"""The texts that a recording of a run is bound to."""

from __future__ import annotations

from pathlib import Path

from greenloop.project.tree import read_tree
from greenloop.workflow.storage.request import (
    ChangeRequest,
    HealRequest,
    RunRequest,
    ScriptRequest,
    digest,
)


def hash_recorded_texts(request: RunRequest) -> str:
    """Return the SHA-256 digest of what decides the answers of a model.

    That is the specification, the file to heal with its tests, the task of a script with the
    digests of its inputs, or a wish with the Python files of its project: others, such as the
    recording itself, may lie beside them. Line ends and outer white space make no difference.

    Raises:
        InputError: the project cannot be read.
    """
    lines = (item.replace("\r\n", "\n").replace("\r", "\n") for item in _list_texts(request))
    return digest("\0".join(item.strip() for item in lines))


def _list_texts(request: RunRequest) -> tuple[str, ...]:
    match request:
        case HealRequest():
            return (request.original_text, *(item.code for item in request.given))
        case ScriptRequest(script=script):
            read = (*script.inputs, *([script.stdin] if script.stdin else []))
            return (request.specification, *sorted(item.sha256 for item in read))
        case ChangeRequest(root=root):
            files = sorted(read_tree(Path(root)).texts.items())
            return (request.specification, *(f"{path}\n{text}" for path, text in files))
        case _:
            return (request.specification,)
