"""Test runs of a whole project."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from greenloop.errors import InputError
from greenloop.records import Expectation, Project, TestRun
from greenloop.sandbox.job import Job, TrialFiles
from greenloop.sandbox.work.file_layout import check_layout, check_path
from greenloop.sandbox.work.tests import Hits, run_test_job

if TYPE_CHECKING:
    from greenloop.sandbox.base import Sandbox


def run_project(
    sandbox: "Sandbox",
    project: Project,
    *,
    expected: Expectation | None = None,
    order_seed: int | None = None,
    hash_seed: int = 0,
    timeout_s: float | None = None,
    hits: Hits | None = None,
    stops_early: bool = False,
    plain_asserts: bool = False,
) -> TestRun:
    """Run the tests of a project in a new copy of it, with its own pytest configuration.

    In an environment of the project, that copy is mounted, and only changed files are written.

    Node ids are relative to the root of the project. `timeout_s` replaces the sandbox's limit. What
    the tests execute of the files in `hits` is added to it. With `stops_early` the run ends with
    the first test that fails. The other arguments are those of `run_tests`.

    Raises:
        InputError: the files cannot be written as given, or a target is not in the project.
        SandboxError: no process can be started.
    """
    files = project.all_files
    if not sandbox.environment:
        check_layout([(item.path, item.content) for item in project.files], sandbox.limits)
    placed = place_project(sandbox, project)
    check_layout(placed.tree, sandbox.limits)
    flags = {"--exitfirst": stops_early, "--assert=plain": plain_asserts}
    chosen = [flag for flag, is_chosen in flags.items() if is_chosen]
    payload: dict[str, Any] = {
        "order_seed": order_seed,
        "traced": list(hits or ()),
        "targets": _resolve_targets(project.targets, files),
        "doctests": [],
        # For a longer text pytest parses the whole file at each failure.
        "options": ["--tb=line", *chosen],
        **placed.payload,
    }
    job = Job("suite", (), payload, hash_seed, sandbox.packages, timeout_s, tree=placed.tree)
    return run_test_job(sandbox, job, _decode_sources(files), expected, hits)


def place_project(
    sandbox: "Sandbox", project: Project, without: Collection[str] = ()
) -> TrialFiles:
    """Return the files that a job writes: all; in an environment those that differ from the copy.

    The files `without` are left out. Raises InputError if they are more than a sandbox holds.
    """
    if project.excess and not sandbox.environment:
        raise InputError(project.excess)
    files = project.own_files if sandbox.environment else project.all_files
    left_out = set(without)
    kept = {path: content for path, content in files.items() if path not in left_out}
    if not sandbox.environment:
        return TrialFiles((), tuple(kept.items()), {})
    changed = sandbox.environment.find_changes(kept)
    removed = [*project.removed, *without]
    return TrialFiles((), tuple(changed.items()), {"removed": removed})


def _decode_sources(files: Mapping[str, bytes]) -> dict[str, str]:
    sources = (item for item in files.items() if item[0].endswith(".py"))
    return {path: content.decode("utf-8", "replace") for path, content in sources}


def _resolve_targets(targets: Sequence[str], files: Mapping[str, bytes]) -> list[str]:
    """Return targets as pytest accepts them; none for the whole project or its `testpaths`."""
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
