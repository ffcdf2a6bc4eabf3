"""What a search over single edits found."""

from __future__ import annotations

from greenloop.records.base import Record


class Patch(Record):
    """One plausible edit: all tests pass with it. `what` says in words what it changes."""

    code: str
    diff: str
    what: str
    suspicion: float = 0.0
    distance: float = 0.0
    tried: int = 0


class Search(Record):
    """Plausible patches, the best first; how many edits were tried, and why the search ended."""

    patches: tuple[Patch, ...] = ()
    tried: int = 0
    seconds: float = 0.0
    ended: str = ""
