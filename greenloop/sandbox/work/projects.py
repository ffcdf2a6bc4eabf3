"""From a project to work for a process, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from greenloop.dependencies import Installed
from greenloop.errors import InputError
from greenloop.records import Project
from greenloop.sandbox.job import Work
from greenloop.sandbox.limits import Limits
from greenloop.sandbox.work.file_layout import check_layout, check_path
from greenloop.sandbox.work.pytest_config import options_of


def project_work(
    project: Project,
    limits: Limits,
    packages: Installed,
    order_seed: int | None,
    hash_seed: int,
) -> tuple[Work, tuple[str, ...]]:
    """The work, and what of the project's configuration is not used in it.

    Raises:
        InputError: the project cannot be laid out, or a target is not in it.
    """
    check_layout([(item.path, item.content) for item in project.files], limits)
    files = project.laid_out
    check_layout(list(files.items()), limits)
    options = options_of(files)
    job = {
        "targets": _targets(project.targets, files),
        "order_seed": order_seed,
        "last": list(project.last),
        "doctests": [],
        "config": options.config,
        "options": options.arguments,
    }
    work = Work("project", (), job, hash_seed, packages, tree=tuple(files.items()))
    return work, tuple(options.notes)


def _targets(targets: Sequence[str], files: Mapping[str, bytes]) -> list[str]:
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


def texts(work: Work) -> dict[str, str]:
    """A run's own sources by path."""
    own = ((path, content) for path, content in work.tree if path.endswith(".py"))
    return {path: content.decode("utf-8", "replace") for path, content in own}
