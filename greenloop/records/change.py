"""The change of a project: its files, its baseline, and what it does to what was there."""

from __future__ import annotations

from pydantic import Field

from greenloop.records.base import Record
from greenloop.records.contract import Contract
from greenloop.records.evidence.peer import Difference


class ChangedFile(Record):
    """A file of a patch, with the numbers of its added and removed lines."""

    path: str
    added: int
    removed: int


class BaselineResult(Record):
    """The project's suite before the change: how many tests are locked, and which are not.

    A locked test passed twice. `problem` says why the suite could not be run.
    """

    locked: int = 0
    red: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    problem: str = ""


class BeforeAfter(Record):
    """Calls on the code before and after the change, and those that the two answer differently."""

    inputs: int = 0
    differences: tuple[Difference, ...] = ()


class Change(Record):
    """A graded change. `base` is the commit that it applies to, '' without version control.

    `files` are those of the patch, new tests included. `tests_by_line` are the tests that run a
    changed line, by path and line of the new version. `fence` are the globs of files that may be
    changed, `outside_fence` the paths that match none of them. `public_changed` are the public
    signatures that differ.
    """

    base: str = ""
    files: tuple[ChangedFile, ...] = ()
    baseline: BaselineResult = BaselineResult()
    fence: tuple[str, ...] = ()
    public_changed: tuple[str, ...] = ()
    outside_fence: tuple[str, ...] = ()
    before_after: BeforeAfter | None = None
    tests_by_line: dict[str, dict[int, tuple[str, ...]]] = Field(default_factory=dict)


class Location(Record):
    """The files that a change concerns; or those that a model has to read to say so (`need`)."""

    files: tuple[str, ...] = ()
    need: tuple[str, ...] = ()
    why: str = ""


class ChangePlan(Record):
    """The contract of a change, the names that it touches, and the globs of files that may change.

    `contradicts` are the node ids of tests that must fail once the wish is fulfilled.
    """

    contract: Contract
    touches: tuple[str, ...] = ()
    fence: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
