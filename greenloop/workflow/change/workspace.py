"""The project of a change: its files as they are, its baseline, and test runs of candidates."""

from codecs import BOM_UTF8
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.errors import InputError
from greenloop.events.progress import progress_span
from greenloop.project.changed_lines import find_changed_lines
from greenloop.project.code_map.index import build_index
from greenloop.project.patch import apply_patch
from greenloop.project.runner import ProjectRunner
from greenloop.project.tree import ProjectTree, read_tree
from greenloop.records import Baseline, BaselineResult, Change, Record, TestRun
from greenloop.sandbox.limits import stretch
from greenloop.testsuite.parser import parse_test_functions
from greenloop.versions import greenloop_version
from greenloop.workflow.change.suite import ChangeSuite
from greenloop.workflow.run_tests import run_with_packages
from greenloop.workflow.setup.missing_modules import explain_suite_problem
from greenloop.workflow.setup.packages import add_declared_packages
from greenloop.workflow.state import Run
from greenloop.workflow.storage.run_dir import write_atomically

_SLOWER = 3  # times its baseline's duration, after which the suite is stopped
_QUICK_SUITE_S = 3.0  # a suite this quick is run whole at once
_NO_CODE = frozenset(["", ".md", ".rst", ".txt", ".toml", ".cfg", ".ini", ".yml", ".yaml"])
_GIVEN_UP = "--no-baseline was given: the project's tests may fail now"
_MAX_SHOWN = 5
Changes = Mapping[str, str | None]


class _SavedBaseline(Record):
    """A baseline, with the digest of the files and the version that it was measured with."""

    files_sha256: str
    greenloop: str
    baseline: Baseline


@dataclass
class ChangeWorkspace:
    """The project of a run, and test runs of candidates in copies of it."""

    run: Run
    tree: ProjectTree
    baseline: Baseline = field(default_factory=Baseline)

    async def prepare(self, *, measures_baseline: bool) -> None:
        """Set the baseline, and the record of the change.

        Raises InputError: the suite cannot run, and a baseline is required.
        """
        if measures_baseline and self.tree.texts:
            await self.load_baseline()
        baseline, run = self.baseline, self.run
        if baseline.problem:
            unavailable = run.state.packages.unavailable
            told = explain_suite_problem(baseline.problem, self.tree, unavailable)
            raise InputError(
                f"{told}; --no-baseline continues without them, with a verdict of at most `passed`"
            )
        if baseline.locked:
            run.notify(f"{len(baseline.locked)} tests pass twice and are locked")
        for kind, names in (("red", baseline.red), ("flaky", baseline.flaky)):
            if names:
                more = f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else ""
                run.notify(f"{kind} before the change: {', '.join(names[:_MAX_SHOWN])}{more}")
        given_up = self.tree.texts and not measures_baseline
        known = BaselineResult(
            locked=len(baseline.locked),
            red=baseline.red,
            flaky=baseline.flaky,
            problem=_GIVEN_UP if given_up else "",
        )
        run.state.change = Change(base=self.tree.base, baseline=known)

    async def load_baseline(self) -> None:
        """Set the baseline: read from the run directory, or measured and stored there."""
        path = self.run.directory / "baseline.json"
        saved: _SavedBaseline | None = None
        with suppress(OSError, ValueError):
            saved = _SavedBaseline.model_validate_json(path.read_text("utf-8"))
        key = (self.tree.sha256, greenloop_version())
        if saved and (saved.files_sha256, saved.greenloop) == key:
            self.baseline = saved.baseline
            return
        await add_declared_packages(self.run.state, self.tree, self.run.settings, self.run.emit)
        with (
            progress_span(self.run.emit, "the project's tests"),
            self.run.state.measure_time("sandbox_s"),
        ):
            self.baseline = await self.run.call_in_sandbox(
                lambda box: ProjectRunner(box, self.tree).measure_baseline()
            )
        stored = _SavedBaseline(files_sha256=key[0], greenloop=key[1], baseline=self.baseline)
        write_atomically(path, stored.model_dump_json())

    def apply(self, patch: str) -> dict[str, str | None]:
        """Return the files that a patch changes, with their new texts. Raises InputError."""
        changes = apply_patch(self.tree.texts, patch)
        self.check_encoding(changes)
        return changes

    def check_encoding(self, paths: Iterable[str]) -> None:
        """Raise InputError if a file that is to change is not UTF-8, or has a byte order mark."""
        contents = self.tree.project.all_files
        for path in paths:
            if path in contents and self.tree.texts[path].encode() != contents[path]:
                is_marked = contents[path].startswith(BOM_UTF8)  # a patch would not fit its line 1
                why = "has a byte order mark: remove" if is_marked else "is not UTF-8 text: convert"
                raise InputError(f"{path} cannot be changed, as it {why} it")

    async def run_tests(
        self, changes: Changes, tests: Collection[str] | None, name: str
    ) -> TestRun:
        """Run tests, or the whole suite, in a copy of the project with changes."""
        targets = None if tests is None else self.baseline.sort_tests(tests)
        sources = [text for text in changes.values() if text is not None]
        limit_s = stretch(max(self.run.settings.timeout_s, _SLOWER * self.baseline.seconds))

        async def run_once() -> TestRun:
            with progress_span(self.run.emit, name):
                return await self.run.call_in_sandbox(
                    lambda box: ProjectRunner(box, self.tree).run(
                        changes, targets, timeout_s=limit_s
                    )
                )

        return await run_with_packages(self.run, run_once, sources, self.tree.module_names)

    async def run_candidate(self, patch: str, suite: ChangeSuite) -> TestRun:
        """Run the new tests and those of the changed lines, then all locked tests.

        The whole suite is run only if the first tests pass, or at once if it is quick.
        """
        changes = self.apply(patch)
        everything = {**changes, **suite.files}
        given = suite.files if suite.is_given else {}
        first = suite.ids | (self.find_mapped(changes) & suite.locked)
        is_quick = suite.locked and self.baseline.cost_s <= _QUICK_SUITE_S
        if not is_quick:
            targets = {*first, *given}
            result = restrict(await self.run_tests(everything, targets, "tests"), first, given)
            if not result.passed or first >= suite.locked:
                return result
        expected = suite.ids | suite.locked
        everywhere = await self.run_tests(everything, None, "all tests")
        result = restrict(everywhere, expected, given)
        kept = prune(result, {*first, *given})
        new_first = sorted(kept.tests, key=lambda item: item.id not in suite.ids)
        return kept.model_copy(update={"tests": tuple(new_first)})

    def find_mapped(self, changes: Changes) -> set[str]:
        """Return the locked tests that run a changed line, or the line before an added one."""
        mapped: set[str] = set()
        for path, text in changes.items():
            lines = self.baseline.lines.get(path, {})
            before, _ = find_changed_lines(self.tree.texts.get(path, ""), text or "")
            mapped.update(test for number in before for test in lines.get(number, ()))
        return mapped.intersection(self.baseline.locked)

    def select_locked(self, given: Collection[str]) -> frozenset[str]:
        """Return the locked tests, without those of `given` files of which a case fails today."""
        red = {item.partition("[")[0] for item in self.baseline.red if _file_of(item) in given}
        return frozenset(item for item in self.baseline.locked if item.partition("[")[0] not in red)

    def find_test_files(self) -> set[str]:
        """Return the files that define locked tests, whatever they are named; not doctests."""
        names = (item.partition("[")[0].partition("::") for item in self.baseline.locked)
        keys = {(path, name.partition("::")[0]) for path, _, name in names}
        found = build_index(self.tree.texts).definitions
        return {path for path, name in keys if (path, name) in found and name != Path(path).stem}


def read_project(root: Path) -> ProjectTree:
    """Read the project of a change; a folder with only text or settings counts as empty.

    Raises InputError: it cannot be read, is too large, or is a project without Python.
    """
    tree = read_tree(root)
    others = [path for path in tree.project.all_files if Path(path).suffix not in _NO_CODE]
    if not tree.texts and others:
        raise InputError(
            f"{root} is not a Python project: it has {others[0]} and no Python file; name another "
            "folder with --in, or an empty one for a new package"
        )
    return tree


def restrict(
    result: TestRun, expected: Collection[str], files: Mapping[str, str] | None = None
) -> TestRun:
    """Return a run in which only the expected tests count, and all tests of `files`, by path.

    At least one test of each of `files` that defines tests has to be reported; these tests may
    skip. A collection error counts if its file has a test that counts.
    """
    files = files or {}
    needed = {*expected, *(path for path, text in files.items() if parse_test_functions(text))}
    tests = tuple(i for i in result.tests if i.id in expected or _file_of(i.id) in files)
    counted = {item.id for item in tests} | {_file_of(item) for item in expected} | set(files)
    failures = tuple(item for item in result.failures if item.test in counted)
    missing = needed - {item.id for item in tests} - {_file_of(i.id) for i in tests}
    skipped = (i.id for i in tests if i.outcome in ("skipped", "xfailed") and i.id not in expected)
    changes = {"tests": tests, "failures": failures, "missing": tuple(sorted(missing))}
    found = result.model_copy(update={**changes, "tolerated": frozenset(skipped)})
    if result.ending != "finished" or result.exit_status not in (0, 1, 2):
        return found
    return found.model_copy(update={"exit_status": int(bool(found.failing_tests))})


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def prune(result: TestRun, kept: Collection[str]) -> TestRun:
    """Return a run without passed tests, except `kept` ones: a suite may have thousands."""
    tests = (
        item
        for item in result.tests
        if item.outcome != "passed" or item.id in kept or _file_of(item.id) in kept
    )
    return result.model_copy(update={"tests": tuple(tests)})
