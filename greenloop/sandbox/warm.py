"""The warm sandbox: runs are clones of a process that has pytest loaded, behind a wall."""

from __future__ import annotations

import json
import threading

from greenloop.records import SandboxInfo
from greenloop.sandbox.bounded import Ended
from greenloop.sandbox.testing import Limits, TestingSandbox, Work, environment
from greenloop.sandbox.visible import SITE, visible
from greenloop.sandbox.walls import Wall
from greenloop.sandbox.zygotes import Zygote

_WORK, _HOME, _TEMPORARY = "/tmp/work", "/tmp/home", "/tmp/tmp"


class WarmSandbox(TestingSandbox):
    """A repeat costs milliseconds: nothing is started but a copy.

    A run with a hash seed of its own starts a Python anew inside the wall: that one has nothing
    loaded beforehand, so it also tells of an import that is only there because pytest has made it.
    """

    def __init__(self, wall: Wall, limits: Limits | None = None) -> None:
        super().__init__(limits)
        self._info = wall.info
        self._zygote = Zygote(wall, visible())

    @property
    def info(self) -> SandboxInfo:
        return self._info

    def close(self) -> None:
        super().close()
        self._zygote.close()

    def _execute(self, work: Work, stop: threading.Event) -> Ended:
        return self._zygote.run(as_job(work, self.limits), self.limits.timeout_s, stop)


def as_job(work: Work, limits: Limits) -> bytes:
    """A run as the inside of a wall takes it."""
    job = {
        **work.job,
        "kind": work.kind,
        "key": work.key,
        "cold": work.hash_seed != 0,
        "work": _WORK,
        "files": {f"{_WORK}/{name}": text for name, text in work.files},
        "limits": limits.inside(),
        "environment": {
            **environment(_HOME, _TEMPORARY, work.hash_seed),
            "PYTHONPATH": SITE,
        },
    }
    return json.dumps(job).encode()
