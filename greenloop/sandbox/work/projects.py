"""Test runs of a whole project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from greenloop.errors import InputError
from greenloop.records import Expectation, Project, TestRun
from greenloop.sandbox.api import JobRunner
from greenloop.sandbox.job import Job
from greenloop.sandbox.work.file_layout import check_layout, check_path
from greenloop.sandbox.work.pytest_config import read_pytest_options
from greenloop.sandbox.work.result_decoder import build_test_run


def run_project(
    sandbox: JobRunner,
    project: Project,
    *,
    expected: Expectation | None = None,
    order_seed: int | None = None,
    hash_seed: int = 0,
) -> TestRun:
    """Run the tests of a project in a new copy of it, with its own pytest configuration.

    Node ids are relative to the root of the project. `TestRun.notes` lists what of the
    configuration is not used; the other arguments are those of `run_tests`.

    Raises:
        InputError: the files cannot be written as given, or a target is not in the project.
        SandboxError: no process can be started.
    """
    check_layout([(item.path, item.content) for item in project.files], sandbox.limits)
    files = project.all_files
    check_layout(list(files.items()), sandbox.limits)
    options = read_pytest_options(files)
    payload = {
        "targets": _resolve_targets(project.targets, files),
        "order_seed": order_seed,
        "last": list(project.last),
        "doctests": [],
        "config": options.config,
        "options": options.arguments,
    }
    job = Job("project", (), payload, hash_seed, sandbox.packages, tree=tuple(files.items()))
    sources = {
        path: content.decode("utf-8", "replace")
        for path, content in files.items()
        if path.endswith(".py")
    }
    run = build_test_run(sandbox.run(job), expected, job.key, sandbox.limits, sources)
    return run.model_copy(update={"notes": tuple(options.notes)})


def _resolve_targets(targets: Sequence[str], files: Mapping[str, bytes]) -> list[str]:
    """Return targets as pytest takes them; none for the whole project or its `testpaths`."""
    found = []
    for target in targets:
        path, colons, name = target.partition("::")
        path = path.rstrip("/")
        if path in ("", "."):
            return ["."] if target else []
        check_path(path)
        if path not in files and not any(item.startswith(f"{path}/") for item in files):
            raise InputError(f"no such test file or folder in the project: {path}")
        found.append(f"./{path}{colons}{name}")
    return found
