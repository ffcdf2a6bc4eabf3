"""Warm sandbox: each run is a fork of a zygote process that has pytest loaded."""

import base64
import json
import os
import secrets
import string
from dataclasses import dataclass, replace
from typing import Any

from greenloop.dependencies import InstalledPackages
from greenloop.encodings import encode_source
from greenloop.records import SandboxInfo
from greenloop.sandbox.backends.mounts import PACKAGES, SITE, GuestMounts, build_guest_mounts
from greenloop.sandbox.backends.namespaces import Backend
from greenloop.sandbox.base import Sandbox, build_environment
from greenloop.sandbox.environment import GuestEnvironment
from greenloop.sandbox.guest.files.writer import stdin_path
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import SUITE_SECONDS, ResourceLimits, stretch
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.warm.zygote_client import ZygotePool

_NAME_LENGTH = 8


@dataclass(frozen=True, slots=True)
class JobPaths:
    """Folders of a run as the run sees them; `site` holds pytest."""

    work: str = "/tmp/work"
    home: str = "/tmp/home"
    temporary: str = "/tmp/tmp"
    site: str = SITE
    packages: str = ""

    def rename(self, name: str) -> "JobPaths":
        """Return folders of this name below /tmp, as of a program; observed code cannot know it."""
        return replace(self, work=f"/tmp/{name}", home=f"/tmp/.{name}", temporary="/tmp")


class WarmSandbox(Sandbox):
    """Sandbox that starts a run in milliseconds, by forking a zygote.

    Repeated tests and observed code are forks of zygotes with another hash seed. That of repeated
    tests has loaded only pytest, which reveals imports that work only because another module was
    imported before. That of observed code has no pytest, and hides the modules that it has loaded.
    """

    has_separate_runs = True

    def __init__(
        self,
        backend: Backend,
        limits: ResourceLimits | None = None,
        mounts: GuestMounts | None = None,
    ) -> None:
        """`mounts` are by default those of greenloop's own Python with pytest."""
        super().__init__(limits)
        self.info = SandboxInfo(backend=backend.name, isolation=backend.isolation)
        self._backend, self._mounts = backend, mounts or build_guest_mounts()
        self._zygotes = ZygotePool(backend)
        self._name = "".join(secrets.choice(string.ascii_lowercase) for _ in range(_NAME_LENGTH))

    def close(self) -> None:
        super().close()
        self._zygotes.close()

    def open_environment(self, environment: GuestEnvironment) -> Sandbox:
        return EnvironmentSandbox(self._backend, environment, self.limits)

    def run(self, job: Job) -> ProcessResult:
        job = replace(job, stop_events=(self._stop_event(job),))
        paths = JobPaths(packages=PACKAGES if job.packages else "")
        if not job.has_pytest:
            paths = paths.rename(self._name)
        return self._run_payload(build_payload(job, paths), job)

    def _run_payload(self, payload: dict[str, Any], job: Job) -> ProcessResult:
        stop = self._stop_event(job)
        mounts = self._mounts.with_packages(job.packages) if job.packages else self._mounts
        mounts = replace(mounts, hash_seed=job.zygote_seed, kinds=job.zygote_kinds)
        limits = job.apply_limits(self.limits)
        request: dict[str, Any] = limits.to_guest(collects_files=bool(job.artifact_request))
        if self.environment:
            request["overlay"] = self.environment.build_overlay()
        messages = json.dumps(payload).encode(), json.dumps(request).encode()
        zygote = self._zygotes.get(mounts)
        return zygote.run(*messages, limits.timeout_s, stop, job.on_progress, job.artifact_request)


class EnvironmentSandbox(WarmSandbox):
    """Sandbox that runs jobs in a project's own environment, in copies at the project's path.

    A run is forked from a zygote of greenloop's own Python. Once its mounts, its limits and its
    system-call filter are in place, the interpreter of the environment is executed in it.
    """

    def __init__(
        self, backend: Backend, environment: GuestEnvironment, limits: ResourceLimits
    ) -> None:
        mounts = environment.add_mounts(build_guest_mounts())
        super().__init__(backend, _raise_limits(limits), mounts)
        self.environment: GuestEnvironment = environment

    def run(self, job: Job) -> ProcessResult:
        job = replace(job, stop_events=(self._stop_event(job),), packages=InstalledPackages())
        root = self.environment.root
        payload = build_payload(job, JobPaths(work=root))
        variables = payload["environment"]
        if not job.has_pytest:  # beside the project, which is imported from its folder
            paths = JobPaths().rename(self._name)
            variables.update(HOME=paths.home, TMPDIR=paths.temporary)
            payload["work"] = paths.work
            roots = payload.get("import_roots", ())
            payload["import_roots"] = [os.path.join(root, item) for item in (*roots, "")]
            payload["folder"] = root  # tests open their data by paths relative to it
        for name in ("PYTHONPATH", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
            variables.pop(name, None)
        variables.update(self.environment.variables)
        removed = [f"{root}/{path}" for path in job.payload.get("removed", ())]
        payload |= {"cold": True, "python": self.environment.python, "removed": removed}
        return self._run_payload(payload, job)


def _raise_limits(limits: ResourceLimits) -> ResourceLimits:
    """Return limits that suffice for the tests of ordinary projects; keep a chosen time limit."""
    is_default = limits.timeout_s == ResourceLimits().timeout_s
    return replace(
        limits,
        timeout_s=stretch(SUITE_SECONDS) if is_default else limits.timeout_s,
        disk_bytes=max(limits.disk_bytes, 256 << 20),
        output_bytes=max(limits.output_bytes, 128 << 20),
        result_bytes=max(limits.result_bytes, 128 << 20),
        inodes=max(limits.inodes, 50_000),
        open_files=max(limits.open_files, 1024),
        processes=max(limits.processes, 256),
    )


def build_payload(job: Job, paths: JobPaths) -> dict[str, Any]:
    """Return the payload of a job, in the form that the guest reads."""
    return {
        **job.payload,
        "kind": job.kind,
        "key": job.key,
        "cold": job.is_cold,
        "work": paths.work,
        "files": _encode_files(job, paths),
        "read_only": job.kind == "script",
        "packages": paths.packages,
        "environment": {
            **build_environment(
                paths.home, paths.temporary, job.hash_seed, has_pytest=job.has_pytest
            ),
            "PYTHONPATH": ":".join(filter(None, (paths.site, paths.packages))),
        },
    }


def _encode_files(job: Job, paths: JobPaths) -> dict[str, str]:
    """Return files by their full path, in base64; standard input is one of them."""
    plain = ((name, encode_source(text, "surrogatepass")) for name, text in job.files)
    files = {f"{paths.work}/{path}": content for path, content in (*plain, *job.tree)}
    if job.kind == "script":
        files[stdin_path(paths.temporary)] = job.stdin
    return {path: base64.b64encode(content).decode() for path, content in files.items()}
