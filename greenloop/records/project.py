"""Records of a project: the baseline of its tests, and a graded change."""

from collections.abc import Iterable, Iterator
from functools import cached_property, reduce
from operator import or_

from pydantic import Field

from greenloop.records.base import Record
from greenloop.records.contract import Contract
from greenloop.records.evidence.peer import Difference
from greenloop.records.pytest_run import Failure, Outcome


class Baseline(Record):
    """Results of a project's tests on its unchanged code.

    `locked` are the node ids of the tests that passed twice; `red` failed twice, `flaky` once;
    `others` skip or are marked as expected to fail. `problem` says in one line why the suite
    cannot be run; `failures` are then the suite's. `seconds` is the time of one run, `cpu_s` its
    CPU time, `cost_s` its time on an idle machine. `reached` has, by path and line, a hexadecimal
    bit mask of the locked tests that run the line, 0 if it runs only at import; `branches` are
    those taken, as `12->15`, by path. `durations` are the seconds of each locked test; `starting`
    tests start processes, or may use one that was started before.
    """

    locked: tuple[str, ...] = ()
    red: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    others: dict[str, Outcome] = Field(default_factory=dict)
    seconds: float = 0.0
    cpu_s: float = 0.0
    cost_s: float = 0.0
    problem: str = ""
    failures: tuple[Failure, ...] = ()
    reached: dict[str, dict[int, str]] = Field(default_factory=dict)
    branches: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    durations: dict[str, float] = Field(default_factory=dict)
    starting: frozenset[str] = frozenset()

    @cached_property
    def test_files(self) -> frozenset[str]:
        """The files of the tests, without those of doctests, whose names have dots."""
        names = (name.partition("[")[0].partition("::") for name in (*self.locked, *self.red))
        return frozenset(path for path, _, name in names if "." not in name)

    @cached_property
    def lines(self) -> dict[str, dict[int, tuple[str, ...]]]:
        """Return the locked tests that run a line, by path and line.

        A line that runs only at import has all tests that run its file, or else all locked tests.
        """
        return {path: self._decode_lines(path) for path in self.reached}

    def find_tested_lines(self, path: str) -> frozenset[int]:
        """Return the lines of a file that locked tests run, without lines run only at import."""
        return frozenset(line for line, mask in self.reached.get(path, {}).items() if mask != "0")

    @property
    def names(self) -> tuple[str, ...]:
        """The node ids of all tests."""
        return (*self.locked, *self.red, *self.flaky, *self.others)

    def sort_tests(self, tests: Iterable[str]) -> list[str]:
        """Sort tests in pytest's order, as one may depend on another; new tests come last."""
        places = {name: place for place, name in enumerate(self.locked)}
        return sorted(tests, key=lambda name: (places.get(name, len(places)), name))

    def _decode_lines(self, path: str) -> dict[int, tuple[str, ...]]:
        masks = {line: int(mask, 16) for line, mask in self.reached[path].items()}
        whole = reduce(or_, masks.values(), 0)
        ids = self.locked
        chosen = {
            mask: tuple(name for at, name in enumerate(ids) if mask >> at & 1) or ids
            for mask in {*masks.values(), whole}
        }
        return {line: chosen[mask or whole] for line, mask in masks.items()}


class ChangedFile(Record):
    """A file of a patch, with the numbers of its added and removed lines."""

    path: str
    added: int
    removed: int


class BaselineResult(Record):
    """The project's tests before the change: the number of locked ones, and those that are not.

    A locked test passed twice. `problem` says why there is no baseline. `compared` are the tests of
    changed files that passed before the change. Of these, `silent` tests do not run now, and those in
    `fewer` lost that number of cases. The old versions of `outdated` tests fail on the new code, those
    of `refuted` tests in an assertion. `indifferent` are present tests that also pass on the old code;
    they are looked for only if there are outdated tests. `extended` ones have
    new cases that fail on the old code. `skipped` are present tests that skip here. `equalled` tests
    seem to be removed or weaker, but new and changed tests notice the same faults of the code. If
    the old versions were `unfinished` at their time limit, nothing is known of them.
    """

    locked: int = 0
    red: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    problem: str = ""
    compared: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    fewer: dict[str, int] = Field(default_factory=dict)
    outdated: tuple[str, ...] = ()
    refuted: tuple[str, ...] = ()
    indifferent: tuple[str, ...] = ()
    extended: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    equalled: tuple[str, ...] = ()
    unfinished: bool = False


class BeforeAfter(Record):
    """Calls on the code before and after the change, and those with different answers.

    In a difference, `code` is the answer after the change, and `peer` the one before.
    """

    inputs: int = 0
    differences: tuple[Difference, ...] = ()


class Change(Record):
    """A graded change. `base` is the commit that it applies to, '' without git.

    `files` are those of the patch, with new tests. `tests_by_line` are the tests that run a changed
    line, by path and line of the new version. `fence` are the globs of files that may change,
    `outside_fence` the changed paths that match none. `public_changed` are the public signatures that
    differ. `nothing_to_grade` says why no evidence about code applies, as in a change of
    documentation; such a change meets `--require verified`.
    """

    base: str = ""
    files: tuple[ChangedFile, ...] = ()
    baseline: BaselineResult = BaselineResult()
    fence: tuple[str, ...] = ()
    public_changed: tuple[str, ...] = ()
    outside_fence: tuple[str, ...] = ()
    before_after: BeforeAfter | None = None
    nothing_to_grade: str = ""
    tests_by_line: dict[str, dict[int, tuple[str, ...]]] = Field(default_factory=dict)

    def unmet(self) -> Iterator[str]:
        """Yield why a green change is not `verified`, each reason with its remedy, if any."""
        if self.nothing_to_grade:
            yield f"nothing to grade: {self.nothing_to_grade}"
        if self.baseline.problem:
            yield f"no baseline: {self.baseline.problem}"
        for path in self.outside_fence:
            yield f"{path} is outside the fence: allow it with --fence, or remove the change"
        for item in self.before_after.differences if self.before_after else ():
            if item.ruling != "peer is wrong":
                yield (
                    f"{item.call} gives {item.code}, and gave {item.peer} before the change; the wish "
                    "does not ask for that: say in it which is right"
                )


class Location(Record):
    """The files that a change concerns, or (`need`) those that a model must read to find them."""

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
