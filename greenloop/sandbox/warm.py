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

    @property
    def splits(self) -> bool:
        return True

    def close(self) -> None:
        super().close()
        self._zygote.close()

    def _execute(self, work: Work, stop: threading.Event) -> Ended:
        split = work.kind == "split"
        told = {**work.job, "key": work.key, "files": _placed(work.files)}
        job = {
            **({"module": work.job["module"], "files": _placed(work.code)} if split else told),
            "kind": work.kind,
            "cold": work.hash_seed != 0,
            "work": _WORK,
            "limits": self.limits.inside(),
            "environment": {
                **environment(_HOME, _TEMPORARY, work.hash_seed),
                "PYTHONPATH": SITE,
            },
        }
        then = json.dumps(told).encode() if split else None
        return self._zygote.run(json.dumps(job).encode(), self.limits.timeout_s, stop, then)


def _placed(files: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {f"{_WORK}/{name}": text for name, text in files}
