"""Tests of a change, written before it, and their red phase on today's code."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from greenloop.errors import (
    BudgetExhaustedError,
    InvalidResponseError,
    ModelFailure,
    SpecificationError,
)
from greenloop.events import RedPhaseDone
from greenloop.project.stubs import stub_missing_names
from greenloop.records import ChangePlan, HeldOutExample, RedPhase, TestRun, has_enough_examples
from greenloop.testsuite.merge import append_tests
from greenloop.testsuite.parser import is_test_path
from greenloop.testsuite.quality_gates import describe_broken_test, find_returning_tests
from greenloop.tools.change_toolkit import ChangeToolkit
from greenloop.tools.shown_project import ShownFile
from greenloop.workflow.change.shown.tests import select_style_files
from greenloop.workflow.change.suite import ChangeSuite
from greenloop.workflow.change.workspace import ChangeWorkspace, restrict

_STUB_RUN_NAME = "new tests on today's code"


class TestWriter:
    """Writer of the tests of a planned change, which drops tests that prove nothing."""

    __test__ = False

    def __init__(self, space: ChangeWorkspace, tools: ChangeToolkit, plan: ChangePlan) -> None:
        self._space, self._tools, self._plan = space, tools, plan
        self._run, self._state = space.run, space.run.state
        self._texts = {
            path: text
            for path, text in space.tree.texts.items()
            if is_test_path(path) and path.endswith(".py")
        }

    async def write(self, signatures: str) -> ChangeSuite:
        """Return the suite; complaints about the first tests are sent back to the model once.

        Raises:
            InvalidResponseError: no test of a requirement is left.
            GreenloopError: a call or the sandbox failed.
        """
        kept = [test for item in self._plan.contract.keep for test in item.tests]
        style = select_style_files(self._texts, self._plan.touches, kept)
        written = await self._tools.write_tests(self._plan, style, signatures, self._texts)
        suite, on_today = await self._try(written.files, written.held_out)
        complaints = self._find_complaints(suite, on_today)
        if complaints:
            rest = f" (and {len(complaints) - 1} more)" if len(complaints) > 1 else ""
            first = next(iter(complaints.values()))
            self._run.notify(f"the tests were sent back: {first}{rest}")
            previous = [ShownFile(path, suite.get_added(path)) for path in suite.files]
            is_enough = has_enough_examples(written.held_out)
            try:
                again = await self._tools.write_tests(
                    *(self._plan, style, signatures, self._texts),
                    *(list(complaints.values()), previous),
                    keep_held_out=is_enough,
                )
                better = max(again.held_out, written.held_out, key=len)
                suite, on_today = await self._try(again.files, better)
            except (ModelFailure, BudgetExhaustedError) as error:
                self._run.notify(f"the tests stay as they are: {error}")
        suite = self._drop_wrong(suite, on_today)
        if not any(map(suite.proves_change, suite.functions)):
            raise InvalidResponseError(
                "write_change_tests: no test is left that fails on today's code; "
                "say in the wish what a caller will see, or give tests with --tests"
            )
        return self._finish(suite, on_today)

    async def take_given(self) -> ChangeSuite:
        """Return the suite of the user's own tests.

        Raises SpecificationError: all of them pass on today's code.
        """
        files = {item.name: item.code for item in self._state.request.given}
        suite, on_today = await self._try(files, is_given=True)
        if not on_today.failing_tests and on_today.ending == "finished":
            raise SpecificationError(
                "the tests of --tests pass on today's code: there is nothing to change"
            )
        return self._finish(suite, on_today)

    async def extend(self, suite: ChangeSuite, code: str) -> ChangeSuite:
        """Return the suite with tests appended to its last file, without those that prove nothing.

        Raises GreenloopError: the sandbox failed.
        """
        path, text = suite.last_file
        files = {**suite.files, path: append_tests(text, code)}
        tried, on_today = await self._try(files)
        added = tried.names - suite.names
        new = {item for item in tried.ids if item.partition("[")[0] in added}
        grown = replace(suite, files=files, ids=suite.ids | new, hardening=suite.hardening | added)
        complaints = dict(self._complain(grown, on_today))
        if on_today.ending != "finished" or path in complaints:
            return suite
        for name in sorted(added & complaints.keys()):
            grown = grown.drop(name, complaints[name], disputed=False)
        return grown

    async def _try(
        self,
        files: Mapping[str, str],
        held_out: tuple[HeldOutExample, ...] = (),
        *,
        is_given: bool = False,
    ) -> tuple[ChangeSuite, TestRun]:
        """Return a suite and its run on today's code, with stubs for names that are missing."""
        texts = self._space.tree.texts
        suite = ChangeSuite(
            before=texts,
            files=dict(files),
            is_given=is_given,
            locked=self._space.select_locked(files if is_given else ()),
            held_out=held_out,
            interface=self._plan.contract.interface,
        )
        allowed = self._run.kit.packages.allowlist.import_names
        stubs = stub_missing_names(texts, suite.files, allowed)
        result = await self._space.run_tests(
            {**stubs, **suite.files}, suite.files.keys(), _STUB_RUN_NAME
        )
        ids = {item.id for item in result.tests if suite.name_of(item.id)}
        gone = {item.partition("[")[0] for item in ids} | set(self._tools.asked.unlocked)
        locked = suite.locked
        if is_given:  # these files are the user's now: old tests that they lack are not locked
            there = {item.id for item in result.tests}
            gone |= {i for i in locked if i.partition("::")[0] in files and i not in there}
        left = (i for i in locked if i not in gone and i.partition("[")[0] not in gone)
        suite = replace(suite, ids=frozenset(ids), locked=frozenset(left))
        return suite, restrict(
            result, suite.ids, suite.files if is_given else _find_uncollected(result, suite)
        )

    def _find_complaints(self, suite: ChangeSuite, on_today: TestRun) -> dict[str, str]:
        """Return complaints by test or file; `missing` and `held out` concern the whole suite."""
        found = dict(self._complain(suite, on_today))
        named = {item for test in suite.functions.values() for item in test.requirements}
        contract = self._plan.contract
        needed = [item.id for item in contract.requirements]
        needed += [item.id for item in contract.keep if not item.tests]
        if missing := [item for item in needed if item not in named]:
            found["missing"] = f"No test names {', '.join(missing)}."
        if not has_enough_examples(suite.held_out):
            found["held out"] = (
                f"There are {len(suite.held_out)} held-out examples: give at least four, at least "
                "half of them with `returns`."
            )
        return found

    def _complain(self, suite: ChangeSuite, on_today: TestRun) -> Iterator[tuple[str, str]]:
        contract = self._plan.contract
        known = {item.id for item in contract.requirements}
        known |= {item.id for item in contract.keep}
        seen: dict[str, set[str]] = {}
        for ran in on_today.tests:
            seen.setdefault(ran.id.partition("[")[0], set()).add(ran.outcome)
        broken = {
            item.test.partition("[")[0]: why
            for item in on_today.failures
            if (why := describe_broken_test(item, item.test.partition("::")[0]))
        }
        returning = set(find_returning_tests(suite.functions.values()))
        for failure in on_today.failures:
            if failure.phase == "collect" and failure.test in suite.files:
                why = f"{failure.exception}: {failure.message}"
                yield failure.test, f"{failure.test} cannot be collected: {why}"
        for name, test in suite.functions.items():
            outcomes, kinds = seen.get(name, set()), {item[0] for item in test.requirements}
            fails = bool(outcomes & {"failed", "error"})
            if not kinds or not known.issuperset(test.requirements):
                yield name, f'{name} names no requirement of the contract: begin with """R1: …""".'
            elif len(kinds) > 1:
                yield name, f"{name} names an R and a K: make two tests of it."
            elif test.can_skip or test.name in returning:
                yield name, f"{name} may skip, or returns a value: a test has to give a verdict."
            elif name in broken:
                yield name, f"{name} is broken: {broken[name]}"
            elif outcomes and "R" in kinds and not fails:
                yield name, f"{name} passes on today's code: it proves nothing of the change."
            elif outcomes and "K" in kinds and fails:
                yield name, f"{name} fails on today's code, where what it checks holds."

    def _drop_wrong(self, suite: ChangeSuite, on_today: TestRun) -> ChangeSuite:
        for name, why in self._complain(suite, on_today):
            names = [name] if name in suite.functions else suite.names_in(name)
            for item in names:
                suite = suite.drop(item, why, disputed=False)
        return suite

    def _finish(self, suite: ChangeSuite, on_today: TestRun) -> ChangeSuite:
        """Set the red phase of the remaining suite, and return the suite."""
        failing = {item for item in on_today.failing_tests if suite.is_given or item in suite.ids}
        needed = [item for item in suite.ids if not suite.is_given and suite.proves_change(item)]
        names = {item.partition("[")[0] for item in failing}
        passing = [item for item in needed if item.partition("[")[0] not in names]
        phase = RedPhase(
            reached=bool(failing) and not passing,
            failed=len(failing),
            passing_on_stub=tuple(sorted(passing)),
        )
        self._state.red_phase = phase
        self._run.emit(RedPhaseDone(phase, len(suite.ids)))
        return suite


def _find_uncollected(result: TestRun, suite: ChangeSuite) -> dict[str, str]:
    """Return the files with new tests that cannot be collected."""
    failed = {item.test for item in result.failures if item.phase == "collect"}
    return {path: text for path, text in suite.files.items() if path in failed}
