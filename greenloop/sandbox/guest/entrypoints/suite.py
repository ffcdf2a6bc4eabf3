"""Entry point of a project's tests: runs pytest as the project's owner does.

Adds a plug-in that reports, and a few options; removes what cannot work in a sandbox.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from _pytest.config import ConftestImportFailure, UsageError, _prepareconfig

from ..coverage.recorder import install_recorder
from ..protocol.framing import Channel
from ..pytest_plugin import absent_plugins
from ..pytest_plugin.absent_plugins import AbsentPlugins
from ..pytest_plugin.config import (
    SuiteOptions,
    accept_undecodable_output,
    build_arguments,
    ini_file,
)
from ..pytest_plugin.suite_reporter import SuiteReporter
from ..scripts.loaded_modules import unload_shadowed_modules

PathHook = Callable[[str], Any]
_USAGE_ERROR = int(pytest.ExitCode.USAGE_ERROR)


def main(job: dict[str, Any], result_fd: int) -> int:
    """Run the job's `targets` with its `options`; return pytest's exit status."""
    accept_undecodable_output()
    channel = Channel(result_fd, job.pop("key"))
    reporter = SuiteReporter(channel, job, _list_own_folders(job))
    arguments, added = prepare_session(job)
    added.append(reporter)
    added += install_recorder(job, channel)
    arguments += [*job["options"], *job["targets"]]
    channel.send("end", exit_status=_run(arguments, added, reporter))
    return 0


def _list_own_folders(job: dict[str, Any]) -> list[str]:
    """Return all folders of the project; [] if the project's own Python runs its tests."""
    return [] if job.get("python") else [folder for folder, _, _ in os.walk(job["work"])]


def prepare_session(job: dict[str, Any]) -> tuple[list[str], list[Any]]:
    """Set the import paths; return pytest's arguments and plug-ins for tests of a project."""
    root = job["work"]
    sys.path_hooks[:] = map(_normalize, sys.path_hooks)
    arguments = build_arguments(root)
    if job.get("python"):
        sys.path.insert(0, root)  # as `python -m pytest` does
        return arguments, [SuiteOptions()]
    _prepend_import_paths(root, job.get("targets", job.get("args", ())))
    arguments += absent_plugins.build_arguments(root, job["packages"], ini_file())
    return arguments, [SuiteOptions(), AbsentPlugins()]


def _normalize(hook: PathHook) -> PathHook:
    """Normalize folders such as `tests/../src`, because modules are identified by their path."""
    return lambda folder: hook(os.path.normpath(folder))


def _list_metadata(folder: str) -> Iterator[str]:
    return (f"{folder}/{name}" for name in ("pyproject.toml", "setup.py", "setup.cfg"))


def _run(arguments: list[str], added: list[Any], reporter: SuiteReporter) -> int:
    """Run pytest and return its exit status; report a startup error as a failure."""
    try:
        config = _prepareconfig(arguments, added)
    except UsageError as error:
        why = str(error).rpartition("error: ")[2]  # without pytest's usage
        reporter.report_startup_error("", UsageError(why))
        return _USAGE_ERROR
    except Exception as error:
        path = str(error.path) if isinstance(error, ConftestImportFailure) else ""
        reporter.report_startup_error(path, error.__cause__ or error)
        return _USAGE_ERROR
    try:
        return int(config.hook.pytest_cmdline_main(config=config))
    except UsageError as error:
        reporter.report_startup_error("", error)
        return _USAGE_ERROR
    finally:
        config._ensure_unconfigure()


def _prepend_import_paths(root: str, targets: Sequence[str]) -> None:
    """Prepend the project's root, as `python -m pytest` does, and `src`, as if it were installed.

    The same paths of projects in subfolders that contain targets come first.
    """
    parts = [target.partition("::")[0].split("/") for target in targets]
    above = {"/".join([root, *some[:end]]) for some in parts for end in range(1, len(some) + 1)}
    inner = [
        path
        for path in sorted(above, reverse=True)
        if any(map(os.path.isfile, _list_metadata(path)))
    ]
    places = (f"{place}{end}" for place in [*inner, root] for end in ("/src", ""))
    folders = [
        folder for folder in dict.fromkeys(map(os.path.normpath, places)) if os.path.isdir(folder)
    ]
    sys.path[:0] = folders
    present = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (*folders, present)))
    for folder in folders:
        unload_shadowed_modules(folder)
