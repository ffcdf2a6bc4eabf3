"""A pytest session in hand: its tests are collected once, and run in any choice, in forks.

pytest's internals are used as `warm_pytest` uses them. Asserts stay plain: nobody reads what they
say, and whether they hold is the same.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..pytest_plugin.config import options

_HOOK_MARKS = {"skip", "skipif", "xfail", "usefixtures", "filterwarnings"}
_HOOK_FIXTURES = ("caplog", "capfd", "capteesys", "capsysbinary", "rec", "pytester", "testdir")
_SUSPENDABLE_FLAGS = 0x20 | 0x80 | 0x200  # generators, coroutines


class CollectedSession:
    """Configured in a process without foreign code; `collect` loads it."""

    def __init__(self, work: str, ini: str, targets: Sequence[str], empty_folder: str) -> None:
        """`elsewhere`: an empty folder, so that no conftest is loaded before `collect`."""
        from _pytest.config import _prepareconfig
        from _pytest.main import Session

        os.chdir(empty_folder)
        _remove_assert_rewriting()
        self._config = _prepareconfig([*options(work, ini), "--assert=plain"], [])
        os.chdir(work)
        self._config.args = [os.path.join(work, name) for name in targets]
        self._config.pluginmanager._dirpath2confmods.clear()
        self._config._do_configure()
        self._session = Session.from_config(self._config)
        self._config.hook.pytest_sessionstart(session=self._session)
        self.items: list[Any] = []
        self._plain_flags: list[bool] = []

    def collect(self) -> bool:
        """Whether all files were collected, and hold tests."""
        self._config.hook.pytest_collection(session=self._session)
        self.items = list(self._session.items)
        bare = not self._config.pluginmanager._conftest_plugins
        self._plain_flags = [bare and _is_plain(item) for item in self.items]
        return not self._session.testsfailed and bool(self.items)

    def enable_hooks(self, number: int) -> bool:
        """For one test that does not pass without them; False where it had them anyway."""
        was_plain, self._plain_flags[number] = self._plain_flags[number], False
        return was_plain

    def set_temp_folder(self, folder: str) -> None:
        """Where `tmp_path` and its like are made from now on."""
        factory = getattr(self._config, "_tmp_path_factory", None)
        if factory is not None:
            factory._basetemp, factory._given_basetemp = None, Path(folder)

    def run_until_failure(
        self, numbers: Sequence[int], on_start: Callable[[int], None]
    ) -> int | None:
        """Runs these tests up to the first that fails: its number. `begin` hears of each."""
        following: list[int | None] = [*numbers[1:], None]
        for number, after in zip(numbers, following, strict=True):
            on_start(number)
            nextitem = None if after is None else self.items[after]
            run = _run_plain if self._plain_flags[number] else _run_with_hooks
            if not run(self._session, self.items[number], nextitem):
                return number
        return None

    def run_and_check_passed(self, number: int) -> bool:
        """Runs one test as if there were no other. It can be run in this process again."""
        item = self.items[number]
        if hasattr(item, "_initrequest"):
            item._initrequest()
        passed = self.run_until_failure([number], lambda _: None) is None
        try:
            self._session._setupstate.teardown_exact(None)
        except BaseException:
            return False
        return passed

    @property
    def is_torn_down(self) -> bool:
        """Whether all that was set up is torn down."""
        return not self._session._setupstate.stack

    def can_repeat(self, numbers: Sequence[int]) -> bool:
        """Whether these tests can run many times in one process, each time as if it were the first.

        Methods cannot: pytest keeps their instance.
        """
        return all(
            self._plain_flags[number] and self.items[number].cls is None for number in numbers
        )

    def run_and_check_failed(self, number: int) -> bool:
        """One test by itself, with fixtures of its own."""
        failed = not _run_plain(self._session, self.items[number], None)
        self.tear_down()
        return failed

    def tear_down(self) -> None:
        """Ends what fixtures are still there; where the end of one fails, the others' come."""
        with suppress(BaseException):
            self._session._setupstate.teardown_exact(None)

    def run_with_outcome(self, number: int) -> str:
        """Runs one test with all of pytest's hooks, the next one being the one behind it."""
        from _pytest.runner import runtestprotocol

        nextitem = self.items[number + 1] if number + 1 < len(self.items) else None
        reports = runtestprotocol(self.items[number], log=False, nextitem=nextitem)
        if any(report.failed for report in reports):
            return "failed"
        return "skipped" if any(report.skipped for report in reports) else "passed"


def _remove_assert_rewriting() -> None:
    """A warm process has made a pytest ready before, whose hook would go on rewriting."""
    from _pytest.assertion.rewrite import AssertionRewritingHook

    sys.meta_path[:] = [item for item in sys.meta_path if type(item) is not AssertionRewritingHook]


def _is_plain(item: Any) -> bool:
    """A function that nothing but its fixtures has to do with."""
    from _pytest.python import Function

    code = getattr(item.obj, "__code__", None) if type(item) is Function else None
    return (
        code is not None
        and not code.co_flags & _SUSPENDABLE_FLAGS
        and not any(mark.name in _HOOK_MARKS for mark in item.iter_markers())
        and not any(name.startswith(_HOOK_FIXTURES) for name in item.fixturenames)
    )


def _run_plain(session: Any, item: Any, nextitem: Any) -> bool:
    """Fixtures, test, fixtures, without pytest's reports: a third faster. Whether it did not fail."""
    from _pytest.outcomes import Skipped
    from _pytest.tmpdir import tmppath_result_key

    item.stash[tmppath_result_key] = {}  # where pytest's own hooks would have put its reports
    os.environ["PYTEST_CURRENT_TEST"] = f"{item.nodeid} (call)"
    state = session._setupstate
    item._initrequest()  # it may have run before
    try:
        try:
            state.setup(item)
            item.runtest()
        except Skipped:
            pass
        state.teardown_exact(nextitem)
    except BaseException:
        return False
    return True


def _run_with_hooks(session: Any, item: Any, nextitem: Any) -> bool:
    from _pytest.runner import runtestprotocol

    item.repr_failure = lambda *_, **__: ""  # nobody reads it
    try:
        return not any(
            report.failed for report in runtestprotocol(item, log=False, nextitem=nextitem)
        )
    except BaseException:  # pytest.exit, Ctrl-C: raised by the mutant, so by the test
        return False
