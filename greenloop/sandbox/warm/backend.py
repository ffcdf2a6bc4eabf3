"""The warm sandbox: runs are clones of a process that has pytest loaded, behind a wall."""

from __future__ import annotations

import base64
import contextlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from greenloop.records import SandboxInfo
from greenloop.sandbox.backends.mounts import PACKAGES, SITE, visible
from greenloop.sandbox.backends.namespaces import Wall
from greenloop.sandbox.base import TestingSandbox, environment
from greenloop.sandbox.guest.files.writer import stdin_file
from greenloop.sandbox.guest.remote_module import SPLIT
from greenloop.sandbox.job import Work
from greenloop.sandbox.limits import Limits
from greenloop.sandbox.network.ca_bundle import AUTHORITIES, authorities, trusting
from greenloop.sandbox.network.proxy import Proxy
from greenloop.sandbox.process_result import Ended
from greenloop.sandbox.warm.assertion_rewrite_cache import (
    Compiled,
    Rewritten,
    Texts,
    read_rewritten,
)
from greenloop.sandbox.warm.pool import Zygotes

_FOR_THE_CODE = ("kind", "cold", "work", "packages", "environment", "module")


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

    A run with a hash seed of its own is a copy of a process with that seed, which has nothing but
    pytest loaded: so it also tells of an import that is only there because somebody else made it.
    """

    def __init__(self, wall: Wall, limits: Limits | None = None) -> None:
        super().__init__(limits)
        self._info = wall.info
        self._zygotes = Zygotes(wall, visible())
        self._rewritten = Rewritten(self._rewrite)

    @property
    def info(self) -> SandboxInfo:
        return self._info

    @property
    def splits(self) -> bool:
        return True

    @property
    def reaches_hosts(self) -> bool:
        return True

    def close(self) -> None:
        super().close()
        self._zygotes.close()

    def _execute(self, work: Work, stop: threading.Event) -> Ended:
        if work.kind not in ("tests", "split"):
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
        seed = 0 if is_cold(work) else work.hash_seed
        zygote = self._zygotes.of(work.packages, work.plugins, seed)
        within = self.within(work)
        told, limits, then = job, within.inside(), None
        if work.kind == "split":
            told, rest = _in_two(job, work.code)
            limits, then = {**limits, SPLIT: 1}, json.dumps(rest).encode()
        first, control = json.dumps(told).encode(), json.dumps(limits).encode()
        if not work.hosts:
            return zygote.run(first, control, within.timeout_s, stop, then)
        with contextlib.closing(Proxy(work.hosts, within.timeout_s)) as proxy:
            ended = zygote.run(first, control, within.timeout_s, stop, then, proxy.serve)
        return replace(ended, left=replace(ended.left, network=proxy.requests))


def is_cold(work: Work) -> bool:
    """Whether a Python is started anew for it: what no session can do with a hash seed of its own."""
    return work.hash_seed != 0 and work.kind != "tests"


def as_job(work: Work, compiled: Mapping[str, str], place: Place) -> dict[str, Any]:
    """A run as the inside of a wall takes it; `compiled` are test files that are rewritten already."""
    return {
        **work.job,
        "kind": work.kind,
        "key": work.key,
        "cold": is_cold(work),
        "work": place.work,
        "files": _placed(place.work, work.files),
        "tree": _tree(work, place),
        "read_only": work.kind == "script",
        "wanted": work.wanted,
        "network": bool(work.hosts),
        "compiled": dict(compiled),
        "packages": place.packages,
        "environment": {
            **environment(place.home, place.temporary, work.hash_seed, work.packages),
            **(trusting(f"{place.home}/{AUTHORITIES}") if work.hosts else {}),
            "PYTHONPATH": ":".join(filter(None, (place.site, place.packages))),
        },
    }


def _in_two(
    job: dict[str, Any], code: Sequence[tuple[str, str]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the code's process may know of a split run, and the rest."""
    told = {name: job[name] for name in _FOR_THE_CODE}
    rest = {name: value for name, value in job.items() if name not in told}
    return {**told, "files": _placed(job["work"], code)}, rest


def _tree(work: Work, place: Place) -> dict[str, str]:
    """Files by their full path, in base64; what comes over standard input is one of them."""
    files = {f"{place.work}/{path}": content for path, content in work.tree}
    if work.kind == "script":
        files[stdin_file(place.temporary)] = work.stdin
    if work.hosts:
        files[f"{place.home}/{AUTHORITIES}"] = authorities()
    return {path: base64.b64encode(content).decode() for path, content in files.items()}


def _placed(folder: str, files: Sequence[tuple[str, str]]) -> dict[str, str]:
    return {f"{folder}/{name}": text for name, text in files}
