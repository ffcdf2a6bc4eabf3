"""The warm sandbox: runs are clones of a process that has pytest loaded, behind a wall."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from greenloop.records import SandboxInfo
from greenloop.sandbox.bounded import Ended
from greenloop.sandbox.limits import Limits
from greenloop.sandbox.pool import Zygotes
from greenloop.sandbox.rewritten import Compiled, Rewritten, Texts, read_rewritten
from greenloop.sandbox.testing import TestingSandbox, Work, environment
from greenloop.sandbox.visible import PACKAGES, SITE, visible
from greenloop.sandbox.walls import Wall


@dataclass(frozen=True)
class Place:
    """A run's folders as it sees them: work, home, temporary files; where pytest is, and packages."""

    work: str = "/tmp/work"
    home: str = "/tmp/home"
    temporary: str = "/tmp/tmp"
    site: str = SITE
    packages: str = ""


class WarmSandbox(TestingSandbox):
    """A repeat costs milliseconds: nothing is started but a copy.

    A run with a hash seed of its own starts a Python anew inside the wall: that one has nothing
    loaded beforehand, so it also tells of an import that is only there because pytest has made it.
    """

    def __init__(self, wall: Wall, limits: Limits | None = None) -> None:
        super().__init__(limits)
        self._info = wall.info
        self._zygotes = Zygotes(wall, visible())
        self._rewritten = Rewritten(self._rewrite)

    @property
    def info(self) -> SandboxInfo:
        return self._info

    def close(self) -> None:
        super().close()
        self._zygotes.close()

    def _execute(self, work: Work, stop: threading.Event) -> Ended:
        cold = work.hash_seed != 0
        if cold or work.kind != "tests":
            return self._run(work, stop, {})
        tests = {name: text for name, text in work.files if name in work.job["targets"]}
        return self._run(work, stop, self._rewritten.of(tests))

    def _rewrite(self, files: Texts) -> Compiled:
        """A file that ends even this process is rewritten by each run, which tells what happened."""
        job = {"targets": list(files), "order_seed": None}
        work = Work("compile", tuple(files.items()), job)
        ended = self._run(work, self._stop, {})
        return read_rewritten(ended.result, work.key) if ended.ending == "finished" else {}

    def _run(self, work: Work, stop: threading.Event, compiled: dict[str, str]) -> Ended:
        place = Place(packages=PACKAGES if work.packages else "")
        return self._hand_over(as_job(work, compiled, place), work, stop)

    def _hand_over(self, job: dict[str, Any], work: Work, stop: threading.Event) -> Ended:
        zygote, within = self._zygotes.of(work.packages), self.within(work)
        limits = json.dumps(within.inside()).encode()
        return zygote.run(json.dumps(job).encode(), limits, within.timeout_s, stop)


def as_job(work: Work, compiled: Mapping[str, str], place: Place) -> dict[str, Any]:
    """A run as the inside of a wall takes it; `compiled` are test files that are rewritten already."""
    return {
        **work.job,
        "kind": work.kind,
        "key": work.key,
        "cold": work.hash_seed != 0,
        "work": place.work,
        "files": {f"{place.work}/{name}": text for name, text in work.files},
        "compiled": dict(compiled),
        "packages": place.packages,
        "environment": {
            **environment(place.home, place.temporary, work.hash_seed, work.packages),
            "PYTHONPATH": ":".join(filter(None, (place.site, place.packages))),
        },
    }
