"""State of the gate between two stops of an agent, stored outside of the working tree."""

import hashlib
from pathlib import Path

from platformdirs import user_state_path
from pydantic import ValidationError

from greenloop.records import Record
from greenloop.workflow.storage.run_dir import write_atomically


class Memory(Record):
    """The last answer in a session, the digest of the change, and the number of blocks so far."""

    base: str = ""  # the commit at which this piece of work began
    digest: str = ""
    message: str = ""
    blocks: int = 0


def find_memory_file(root: Path, session: str = "") -> Path:
    """Return the file for a session in a project, or for all calls without one.

    It is in the user's state folder, where an agent does not edit it.
    """
    key = f"{root.resolve()}\0{session}" if session else str(root.resolve())
    name = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:24]
    return user_state_path("greenloop") / "gate" / f"{name}.json"


def read_memory(file: Path) -> Memory:
    """Return the stored state, or an empty one if the file is missing or damaged."""
    try:
        return Memory.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return Memory()


def write_memory(file: Path, memory: Memory) -> None:
    """Store an answer. Raises OutputError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, memory.model_dump_json())
