"""What an automatic search for a repair found."""

from __future__ import annotations

from greenloop.records.base import Record


class Patch(Record):
    """One change after which all tests that guided the search pass: plausible, not verified.

    `code` is the whole module, `diff` a unified diff, `change` says in words what was done at
    `line` (of the module before). `suspicion` (0 to 1) is that of the place by the tests'
    coverage, `distance` how far the change is from what a person would try first (about 1 to 4,
    less is nearer), `number` its place in the order of trying. `agreeing` is the share (0 to 1) of
    what was found that does the same on other inputs; None where that was not looked at.
    """

    code: str
    diff: str
    change: str
    line: int
    suspicion: float
    distance: float
    number: int
    agreeing: float | None = None


class SearchResult(Record):
    """`patches` best first; `tried` of `generated` edits were tried in `seconds`.

    `ended` says why it ended: `all tried`, `enough found`, `time`, `interrupted`, or what made a
    search impossible. `disagreements` are calls on which patches differ: each with the answers of
    the patches, in their order, as short text.
    """

    patches: tuple[Patch, ...] = ()
    tried: int = 0
    generated: int = 0
    seconds: float = 0.0
    ended: str = ""
    disagreements: tuple[tuple[str, tuple[str, ...]], ...] = ()
