"""Packages for a run's code and tests: those of the contract, and those that are found to be needed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from greenloop.dependencies import InstalledPackages
from greenloop.dependencies.names import (
    find_imported_modules,
    format_with_import,
    get_package_name,
    is_standard_library,
)
from greenloop.errors import InputError, PackagesError
from greenloop.events import EventSink, Notice, PackageInstallStarted, PackagesReady
from greenloop.records import Failure, ScriptJob, TestRun
from greenloop.testsuite import Suite

if TYPE_CHECKING:
    from greenloop.tools.toolkit import Toolkit
    from greenloop.workflow.state import RunState

_MISSING_MODULE = re.compile(r"No module named '([^'.]+)")
_PYTEST_MODULES = frozenset("pytest _pytest pluggy iniconfig packaging pygments conftest".split())


@dataclass
class RunPackages:
    """What a run's code may use by now; what could not be had; what the person was told of."""

    installed: InstalledPackages = field(default_factory=InstalledPackages)
    unavailable: set[str] = field(default_factory=set)
    notified: set[str] = field(default_factory=set)


def with_installed_packages(kit: Toolkit, state: RunState) -> Toolkit:
    """The toolkit, its sandbox with the packages that the run has by now."""
    return replace(kit, sandbox=kit.sandbox.with_packages(state.packages.installed))


async def install_contract_packages(kit: Toolkit, state: RunState, emit: EventSink) -> None:
    """What the contract names, and what the person's own tests import besides.

    Raises:
        PackagesError: a package cannot be had.
    """
    given = [item.code for item in state.request.given]
    names = kit.packages.find_imported(given, [state.agreed_contract.module])
    await _install(kit, state, emit, names.union(state.agreed_contract.packages))
    own = {state.agreed_contract.module, *(Path(item.name).stem for item in state.request.given)}
    imported = {item for code in given for item in find_imported_modules(code)} - own
    for module in sorted(imported - _PYTEST_MODULES):
        if not _is_installed(state.packages.installed, module):
            _notify_missing(state, emit, module, "your tests import")


async def install_imported_packages(
    kit: Toolkit,
    state: RunState,
    emit: EventSink,
    sources: Iterable[str],
    local_names: Collection[str],
) -> None:
    """Allowed packages that sources import, though the contract does not name them.

    To install one costs less than to ask a model again. Where it cannot be had the run goes on: its
    failures say what is missing. `own` are modules that are no packages.
    """
    await _try_install(kit, state, emit, kit.packages.find_imported(sources, local_names))


async def install_missing_packages(
    kit: Toolkit, state: RunState, emit: EventSink, run: TestRun, local_names: Collection[str]
) -> bool:
    """The same for what a run missed (an import that no text shows); True where it has it now."""
    missed = {module for item in run.failures if (module := _find_missing_module(item))} - set(
        local_names
    )
    return await _try_install(kit, state, emit, kit.packages.allowlist.find_imported(missed))


def annotate_missing_modules(
    kit: Toolkit, state: RunState, emit: EventSink, run: TestRun, local_names: Collection[str]
) -> TestRun:
    """The run, its missing modules with what is there instead: for the model that reads it."""
    installed = state.packages.installed
    failures = []
    for item in run.failures:
        module = _find_missing_module(item)
        if module and module not in local_names and not _is_installed(installed, module):
            _notify_missing(state, emit, module, "the code or a test imports")
            names = {
                *map(format_with_import, installed.names),
                *kit.packages.allowlist.descriptions,
            }
            there = ", ".join(sorted(names)) or "nothing"
            why = f"{module} is not available; available besides the standard library: {there}"
            item = item.model_copy(update={"message": f"{item.message} ({why})"})
        failures.append(item)
    return run.model_copy(update={"failures": tuple(failures)})


async def _try_install(
    kit: Toolkit, state: RunState, emit: EventSink, names: Collection[str]
) -> bool:
    new = set(names) - state.packages.unavailable
    try:
        return await _install(kit, state, emit, new)
    except PackagesError as error:
        state.packages.unavailable |= new
        emit(Notice(str(error)))
        return False


async def _install(kit: Toolkit, state: RunState, emit: EventSink, names: Collection[str]) -> bool:
    """Adds packages to those that the run has; True where there are more now."""
    has = state.packages.installed.names
    wanted = tuple(sorted({*has, *names}))
    if wanted == has:
        return False
    found = await kit.packages.find_installed(wanted)
    cached = found is not None
    if found is None:
        emit(PackageInstallStarted(wanted))
        found = await kit.packages.install(wanted)
    state.packages.installed = found
    emit(PackagesReady(found.summary(), cached))
    return True


def local_module_names(suite: Suite) -> set[str]:
    """Names that a suite's imports mean without a package: the module, and the files of tests."""
    return {suite.module, *(Path(item.name).stem for item in suite.files)}


def _find_missing_module(failure: Failure) -> str:
    """The top-level module whose absence this failure is about; '' where it is about another thing."""
    found = _MISSING_MODULE.search(failure.message)
    if failure.exception != "ModuleNotFoundError" or found is None or is_standard_library(found[1]):
        return ""
    return found[1]


def _is_installed(installed: InstalledPackages, module: str) -> bool:
    folder = Path(installed.folder)
    return bool(installed) and ((folder / module).exists() or (folder / f"{module}.py").exists())


def _notify_missing(state: RunState, emit: EventSink, module: str, importer: str) -> None:
    """Once for each module: what the person can do, which the model cannot.

    Raises:
        InputError: it is a module of the person's that a script needs: nobody is to write it anew.
    """
    if module in state.packages.notified:
        return
    state.packages.notified.add(module)
    original = state.request.original
    own = suggest_module_input(original.path, module) if original and state.request.script else ""
    if own:
        raise InputError(f"{module} lies beside the script, which may read it with: {own}")
    emit(
        Notice(
            f"{importer} {module}, which is not available; "
            f"--allow-package {get_package_name(module)} would allow it"
        )
    )


_MISSING_FILE = re.compile(r"No such file or directory: '([^']+)'")


def suggest_module_input(original: str, module: str) -> str:
    """The option that lays a module of the person's beside the script; '' where there is none."""
    folder = Path(original).parent
    for name in (f"{module}.py", module):
        if (folder / name).exists():
            near = folder == Path.cwd()
            return f"--input {name}" if near else f"--input {folder / name}={name}"
    return ""


def suggest_input_path(run: TestRun, job: ScriptJob) -> str:
    """Of a file that was not found: that an input of its name lies in another place."""
    for failure in run.failures:
        found = _MISSING_FILE.search(failure.message)
        if found is None or failure.exception != "FileNotFoundError" or found[1].startswith("/"):
            continue
        for item in job.inputs:
            if item.path != found[1] and PurePosixPath(item.path).name == Path(found[1]).name:
                return (
                    f"the script looks for {found[1]}, and the input lies at {item.path}: "
                    f"--input PATH={found[1]} would lay it there"
                )
    return ""
