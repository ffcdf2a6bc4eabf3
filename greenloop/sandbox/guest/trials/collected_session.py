"""pytest session whose tests are collected once, and run in any selection, in forks.

Uses the same internals of pytest as `pytest_preload`. Assertions are not rewritten: their messages
are not needed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..pytest_plugin import plugins
from ..pytest_plugin.config import options, remove_assert_rewriting

_HOOK_MARKS = {"skip", "skipif", "xfail", "usefixtures", "filterwarnings"}
_HOOK_FIXTURES = ("caplog", "capfd", "capteesys", "capsysbinary", "rec", "pytester", "testdir")
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
_SUSPENDABLE_FLAGS = 0x20 | 0x80 | 0x200  # generators, coroutines


class CollectedSession:
    """Session, begun in a process without untrusted code; `collect` loads the tests."""

    def __init__(self, job: dict[str, Any]) -> None:
        """The job has `work`, `ini`, `targets`, and `held`: config and session, if one is begun."""
        work = job["work"]
        remove_assert_rewriting()
        self._config, self._session = job.get("held") or _begin_session(work, job["ini"])
        self._config.args = [os.path.join(work, name) for name in job["targets"]]
        self._config.pluginmanager._dirpath2confmods.clear()
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
            if run(self._session, self.items[number], nextitem) == FAILED:
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
        """Return whether each run of these tests in one process is like the first."""
        return all(self._plain_flags[number] for number in numbers)

    def run_and_check_failed(self, number: int) -> bool:
        """Run one test with new fixtures, and return whether it failed."""
        failed = _run_plain(self._session, self.items[number], None) == FAILED
        self.tear_down()
        return failed

    def tear_down(self) -> None:
        """Tear down all active fixtures, even if one of them raises."""
        with suppress(BaseException):
            self._session._setupstate.teardown_exact(None)

    def run_with_outcome(self, number: int, *, uses_hooks: bool = True) -> str:
        """Run one test before the next one of the file, with all of pytest's hooks or as in a trial."""
        nextitem = self.items[number + 1] if number + 1 < len(self.items) else None
        is_plain = self._plain_flags[number] and not uses_hooks
        run = _run_plain if is_plain else _run_with_hooks
        return run(self._session, self.items[number], nextitem)


def _begin_session(work: str, ini: str) -> tuple[Any, Any]:
    """Return a configuration and its session; as an empty folder is current, no conftest is loaded."""
    from _pytest.config import _prepareconfig
    from _pytest.main import Session

    os.chdir(tempfile.mkdtemp())
    loaded = plugins.load_plugins(plugins.build_usage_predicate(work))
    arguments = [*options(work, ini), "--assert=plain", *plugins.build_plugin_options(loaded)]
    config = _prepareconfig(arguments, loaded)
    os.chdir(work)
    config._do_configure()
    session = Session.from_config(config)
    config.hook.pytest_sessionstart(session=session)
    return config, session


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


def _run_plain(session: Any, item: Any, nextitem: Any) -> str:
    """Set up fixtures, run, tear down, without pytest's reports, in a third of the time."""
    from _pytest.outcomes import Skipped
    from _pytest.tmpdir import tmppath_result_key

    item.stash[tmppath_result_key] = {}  # set by hooks that are not called
    os.environ["PYTEST_CURRENT_TEST"] = f"{item.nodeid} (call)"
    state, outcome = session._setupstate, PASSED
    _forget_last_run(item)
    try:
        try:
            state.setup(item)
            item.runtest()
        except Skipped:
            outcome = SKIPPED
        state.teardown_exact(nextitem)
    except BaseException:
        return FAILED
    return outcome


def _forget_last_run(item: Any) -> None:
    """Let a test that was run before have new fixtures and, if it is a method, a new instance."""
    item._initrequest()
    if item.cls is not None:
        for name in ("_instance", "_obj"):
            vars(item).pop(name, None)


def _run_with_hooks(session: Any, item: Any, nextitem: Any) -> str:
    from _pytest.runner import runtestprotocol

    item.repr_failure = lambda *_, **__: ""  # not needed
    try:
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
    except BaseException:  # pytest.exit or KeyboardInterrupt, raised by the mutant
        return FAILED
    if any(report.failed for report in reports):
        return FAILED
    return SKIPPED if any(report.skipped for report in reports) else PASSED
