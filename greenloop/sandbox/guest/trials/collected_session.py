"""pytest session whose tests are collected once, and run in any selection, in forks.

Uses the same internals of pytest as `pytest_preload`. Assertions are not rewritten: their messages
are not needed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..pytest_plugin import plugins
from ..pytest_plugin.config import options

_HOOK_MARKS = {"skip", "skipif", "xfail", "usefixtures", "filterwarnings"}
_HOOK_FIXTURES = ("caplog", "capfd", "capteesys", "capsysbinary", "rec", "pytester", "testdir")
_SUSPENDABLE_FLAGS = 0x20 | 0x80 | 0x200  # generators, coroutines


class CollectedSession:
    """Session, configured in a process without untrusted code; `collect` loads the tests."""

    def __init__(self, work: str, ini: str, targets: Sequence[str], empty_folder: str) -> None:
        """`empty_folder` is the working folder meanwhile, so that no conftest is loaded yet."""
        from _pytest.config import _prepareconfig
        from _pytest.main import Session

        os.chdir(empty_folder)
        _remove_assert_rewriting()
        loaded = plugins.load_plugins(plugins.build_usage_predicate(work))
        arguments = [*options(work, ini), "--assert=plain", *plugins.build_plugin_options(loaded)]
        self._config = _prepareconfig(arguments, loaded)
        os.chdir(work)
        self._config.args = [os.path.join(work, name) for name in targets]
        self._config.pluginmanager._dirpath2confmods.clear()
        self._config._do_configure()
        self._session = Session.from_config(self._config)
        self._config.hook.pytest_sessionstart(session=self._session)
        self.items: list[Any] = []
        self._plain_flags: list[bool] = []

    def collect(self) -> bool:
        """Return whether all files were collected and contain tests."""
        self._config.hook.pytest_collection(session=self._session)
        self.items = list(self._session.items)
        has_no_conftest = not self._config.pluginmanager._conftest_plugins
        self._plain_flags = [has_no_conftest and _is_plain(item) for item in self.items]
        return not self._session.testsfailed and bool(self.items)

    def enable_hooks(self, number: int) -> bool:
        """Run a test with pytest's hooks from now on; False if it was run so before."""
        was_plain, self._plain_flags[number] = self._plain_flags[number], False
        return was_plain

    def set_temp_folder(self, folder: str) -> None:
        """Set the folder in which `tmp_path` and similar fixtures create folders."""
        factory = getattr(self._config, "_tmp_path_factory", None)
        if factory is not None:
            factory._basetemp, factory._given_basetemp = None, Path(folder)

    def run_until_failure(
        self, numbers: Sequence[int], on_start: Callable[[int], None]
    ) -> int | None:
        """Run these tests and return the number of the first that fails.

        `on_start` is called with the number of each.
        """
        following: list[int | None] = [*numbers[1:], None]
        for number, after in zip(numbers, following, strict=True):
            on_start(number)
            nextitem = None if after is None else self.items[after]
            run = _run_plain if self._plain_flags[number] else _run_with_hooks
            if not run(self._session, self.items[number], nextitem):
                return number
        return None

    def run_and_check_passed(self, number: int) -> bool:
        """Run one test as if it were the only one; it can be run in this process again."""
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
        """Whether no fixture is active."""
        return not self._session._setupstate.stack

    def can_repeat(self, numbers: Sequence[int]) -> bool:
        """Return whether each run of these tests in one process is like the first.

        Methods cannot be repeated: pytest keeps their instance.
        """
        return all(
            self._plain_flags[number] and self.items[number].cls is None for number in numbers
        )

    def run_and_check_failed(self, number: int) -> bool:
        """Run one test with new fixtures, and return whether it failed."""
        failed = not _run_plain(self._session, self.items[number], None)
        self.tear_down()
        return failed

    def tear_down(self) -> None:
        """Tear down all active fixtures, even if one of them raises."""
        with suppress(BaseException):
            self._session._setupstate.teardown_exact(None)

    def run_with_outcome(self, number: int) -> str:
        """Run one test with all of pytest's hooks, before the next one of the file."""
        from _pytest.runner import runtestprotocol

        nextitem = self.items[number + 1] if number + 1 < len(self.items) else None
        reports = runtestprotocol(self.items[number], log=False, nextitem=nextitem)
        if any(report.failed for report in reports):
            return "failed"
        return "skipped" if any(report.skipped for report in reports) else "passed"


def _remove_assert_rewriting() -> None:
    """Remove the import hook of the session that a zygote has begun."""
    from _pytest.assertion.rewrite import AssertionRewritingHook

    sys.meta_path[:] = [item for item in sys.meta_path if type(item) is not AssertionRewritingHook]


def _is_plain(item: Any) -> bool:
    """Return whether it is a function that only its fixtures affect."""
    from _pytest.python import Function

    code = getattr(item.obj, "__code__", None) if type(item) is Function else None
    return (
        code is not None
        and not code.co_flags & _SUSPENDABLE_FLAGS
        and not any(mark.name in _HOOK_MARKS for mark in item.iter_markers())
        and not any(name.startswith(_HOOK_FIXTURES) for name in item.fixturenames)
    )


def _run_plain(session: Any, item: Any, nextitem: Any) -> bool:
    """Set up fixtures, run, tear down, without pytest's reports, a third faster. False on failure."""
    from _pytest.outcomes import Skipped
    from _pytest.tmpdir import tmppath_result_key

    item.stash[tmppath_result_key] = {}  # set by hooks that are not called
    os.environ["PYTEST_CURRENT_TEST"] = f"{item.nodeid} (call)"
    state = session._setupstate
    item._initrequest()  # the test may have been run before
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

    item.repr_failure = lambda *_, **__: ""  # not needed
    try:
        return not any(
            report.failed for report in runtestprotocol(item, log=False, nextitem=nextitem)
        )
    except BaseException:  # pytest.exit or KeyboardInterrupt, raised by the mutant
        return False
