"""A sandbox as a run sees it whose code may use packages."""

from __future__ import annotations

import threading

from greenloop.dependencies import Installed
from greenloop.records import SandboxInfo
from greenloop.sandbox.base import TestingSandbox
from greenloop.sandbox.job import Work
from greenloop.sandbox.process_result import Ended


class ProvidedSandbox(TestingSandbox):
    """The processes are those of the sandbox that it was made from, which may be shared by several
    runs with different packages at once. `interrupt` and `close` end only what was run through it.
    """

    def __init__(self, box: TestingSandbox, packages: Installed) -> None:
        super().__init__(box.limits, packages)
        self._box = box

    @property
    def info(self) -> SandboxInfo:
        return self._box.info

    @property
    def splits(self) -> bool:
        return self._box.splits

    @property
    def reaches_hosts(self) -> bool:
        return self._box.reaches_hosts

    def with_packages(self, packages: Installed) -> TestingSandbox:
        return self._box.with_packages(packages)

    def _execute(self, work: Work, stop: threading.Event) -> Ended:
        either = _Either(stop, self._box._stop)
        return self._box._execute(work, either)


class _Either(threading.Event):
    """Set as soon as one of the others is."""

    def __init__(self, *others: threading.Event) -> None:
        super().__init__()
        self._others = others

    def is_set(self) -> bool:
        return any(item.is_set() for item in self._others)
