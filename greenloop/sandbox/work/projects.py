"""From a project to work for a process, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from greenloop.dependencies import InstalledPackages
from greenloop.errors import InputError
from greenloop.records import Project
from greenloop.sandbox.job import Job
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.work.file_layout import check_layout, check_path
from greenloop.sandbox.work.pytest_config import read_pytest_options


def build_project_job(
    project: Project,
    limits: ResourceLimits,
    packages: InstalledPackages,
    order_seed: int | None,
    hash_seed: int,
) -> tuple[Job, tuple[str, ...]]:
    """The work, and what of the project's configuration is not used in it.

    Raises:
        InputError: the project cannot be laid out, or a target is not in it.
    """
    check_layout([(item.path, item.content) for item in project.files], limits)
    files = project.all_files
    check_layout(list(files.items()), limits)
    options = read_pytest_options(files)
    job = {
        "targets": _resolve_targets(project.targets, files),
        "order_seed": order_seed,
        "last": list(project.last),
        "doctests": [],
        "config": options.config,
        "options": options.arguments,
    }
    work = Job("project", (), job, hash_seed, packages, tree=tuple(files.items()))
    return work, tuple(options.notes)


def _resolve_targets(targets: Sequence[str], files: Mapping[str, bytes]) -> list[str]:
    """As pytest takes them; none for the whole project, or what its configuration says."""
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


def decode_sources(job: Job) -> dict[str, str]:
    """A run's own sources by path."""
    own = ((path, content) for path, content in job.tree if path.endswith(".py"))
    return {path: content.decode("utf-8", "replace") for path, content in own}
