"""Results of search-based repair."""

from greenloop.records.base import Record


class Patch(Record):
    """One change after which all tests that guided the search pass: plausible, not verified.

    `code` is the whole module, `diff` a unified diff, and `change` describes the change at `line` of
    the original module. `suspicion` (0 to 1) is the suspicion of the line by the tests' coverage.
    `distance` says how unlikely the change is (about 1 to 4, less is more likely), and `number` is
    its position in the search. `agreeing` is set in older reports only.
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

    `ended` says why the search ended: `all tried`, `enough found`, `time`, `interrupted`, or what
    made it impossible.
    """

    patches: tuple[Patch, ...] = ()
    tried: int = 0
    generated: int = 0
    seconds: float = 0.0
    ended: str = ""
