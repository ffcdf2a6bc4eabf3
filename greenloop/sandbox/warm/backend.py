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
from greenloop.sandbox.backends.mounts import PACKAGES, SITE, build_guest_mounts
from greenloop.sandbox.backends.namespaces import Backend
from greenloop.sandbox.base import BaseSandbox, build_environment
from greenloop.sandbox.guest.files.writer import stdin_path
from greenloop.sandbox.guest.remote_module import SPLIT
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.network.ca_bundle import CA_BUNDLE_NAME, build_ca_environment, read_ca_bundle
from greenloop.sandbox.network.proxy import Proxy
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.warm.assertion_rewrite_cache import (
    AssertionRewriteCache,
    CompiledFiles,
    SourceTexts,
    parse_compiled,
)
from greenloop.sandbox.warm.pool import ZygotePool

_CODE_PROCESS_KEYS = ("kind", "cold", "work", "packages", "environment", "module")


@dataclass(frozen=True)
class JobPaths:
    """A run's folders as it sees them: work, home, temporary files; where pytest is, and packages."""

    work: str = "/tmp/work"
    home: str = "/tmp/home"
    temporary: str = "/tmp/tmp"
    site: str = SITE
    packages: str = ""


class WarmSandbox(BaseSandbox):
    """A repeat costs milliseconds: nothing is started but a copy.

    A run with a hash seed of its own is a copy of a process with that seed, which has nothing but
    pytest loaded: so it also tells of an import that is only there because somebody else made it.
    """

    def __init__(self, backend: Backend, limits: ResourceLimits | None = None) -> None:
        super().__init__(limits)
        self._info = backend.info
        self._zygotes = ZygotePool(backend, build_guest_mounts())
        self._rewrite_cache = AssertionRewriteCache(self._rewrite)

    @property
    def info(self) -> SandboxInfo:
        return self._info

    @property
    def can_isolate(self) -> bool:
        return True

    @property
    def can_allow_hosts(self) -> bool:
        return True

    def close(self) -> None:
        super().close()
        self._zygotes.close()

    def _execute(self, job: Job, stop: threading.Event) -> ProcessResult:
        if job.kind not in ("tests", "split"):
            return self._run(job, stop, {})
        tests = {name: text for name, text in job.files if name in job.payload["targets"]}
        return self._run(job, stop, self._rewrite_cache.get(tests))

    def _rewrite(self, files: SourceTexts) -> CompiledFiles:
        """A file that ends even this process is rewritten by each run, which tells what happened."""
        job = {"targets": list(files), "order_seed": None}
        work = Job("compile", tuple(files.items()), job)
        ended = self._run(work, self._stop, {})
        return parse_compiled(ended.channel_data, work.key) if ended.ending == "finished" else {}

    def _run(self, job: Job, stop: threading.Event, compiled: dict[str, str]) -> ProcessResult:
        place = JobPaths(packages=PACKAGES if job.packages else "")
        return self._run_payload(build_payload(job, compiled, place), job, stop)

    def _run_payload(
        self, payload: dict[str, Any], work: Job, stop: threading.Event
    ) -> ProcessResult:
        seed = 0 if is_cold(work) else work.hash_seed
        zygote = self._zygotes.get(work.packages, work.plugins, seed)
        within = self.limits_for(work)
        told, limits, then = payload, within.to_guest(), None
        if work.kind == "split":
            told, rest = _split_payload(payload, work.code_files)
            limits, then = {**limits, SPLIT: 1}, json.dumps(rest).encode()
        first, control = json.dumps(told).encode(), json.dumps(limits).encode()
        if not work.allowed_hosts:
            return zygote.run(first, control, within.timeout_s, stop, then)
        with contextlib.closing(Proxy(work.allowed_hosts, within.timeout_s)) as proxy:
            ended = zygote.run(first, control, within.timeout_s, stop, then, proxy.serve)
        return replace(ended, artifacts=replace(ended.artifacts, network_requests=proxy.requests))


def is_cold(job: Job) -> bool:
    """Whether a Python is started anew for it: what no session can do with a hash seed of its own."""
    return job.hash_seed != 0 and job.kind != "tests"


def build_payload(job: Job, compiled: Mapping[str, str], paths: JobPaths) -> dict[str, Any]:
    """A run as the inside of a wall takes it; `compiled` are test files that are rewritten already."""
    return {
        **job.payload,
        "kind": job.kind,
        "key": job.key,
        "cold": is_cold(job),
        "work": paths.work,
        "files": _prefix_paths(paths.work, job.files),
        "tree": _encode_tree(job, paths),
        "read_only": job.kind == "script",
        "wanted": job.artifact_request,
        "network": bool(job.allowed_hosts),
        "compiled": dict(compiled),
        "packages": paths.packages,
        "environment": {
            **build_environment(paths.home, paths.temporary, job.hash_seed, job.packages),
            **(build_ca_environment(f"{paths.home}/{CA_BUNDLE_NAME}") if job.allowed_hosts else {}),
            "PYTHONPATH": ":".join(filter(None, (paths.site, paths.packages))),
        },
    }


def _split_payload(
    payload: dict[str, Any], code: Sequence[tuple[str, str]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the code's process may know of a split run, and the rest."""
    told = {name: payload[name] for name in _CODE_PROCESS_KEYS}
    rest = {name: value for name, value in payload.items() if name not in told}
    return {**told, "files": _prefix_paths(payload["work"], code)}, rest


def _encode_tree(job: Job, paths: JobPaths) -> dict[str, str]:
    """Files by their full path, in base64; what comes over standard input is one of them."""
    files = {f"{paths.work}/{path}": content for path, content in job.tree}
    if job.kind == "script":
        files[stdin_path(paths.temporary)] = job.stdin
    if job.allowed_hosts:
        files[f"{paths.home}/{CA_BUNDLE_NAME}"] = read_ca_bundle()
    return {path: base64.b64encode(content).decode() for path, content in files.items()}


def _prefix_paths(folder: str, files: Sequence[tuple[str, str]]) -> dict[str, str]:
    return {f"{folder}/{name}": text for name, text in files}
