"""Packages for a run's code and tests: those of the contract, and those that are found to be needed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from greenloop.dependencies import Installed
from greenloop.dependencies.names import imported_by, is_standard, package_of, with_import
from greenloop.errors import InputError, PackagesError
from greenloop.events import Emit, Notice, PackagesAwaited, PackagesReady
from greenloop.records import Failure, ScriptJob, TestRun
from greenloop.testsuite import Suite

if TYPE_CHECKING:
    from greenloop.tools.toolkit import Toolkit
    from greenloop.workflow.state import RunState

_MISSING = re.compile(r"No module named '([^'.]+)")
_WITH_PYTEST = frozenset("pytest _pytest pluggy iniconfig packaging pygments conftest".split())


@dataclass
class Provisions:
    """What a run's code may use by now; what could not be had; what the person was told of."""

    installed: Installed = field(default_factory=Installed)
    refused: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)


def fitted(kit: Toolkit, state: RunState) -> Toolkit:
    """The toolkit, its sandbox with the packages that the run has by now."""
    return replace(kit, sandbox=kit.sandbox.with_packages(state.provisions.installed))


async def provide_agreed(kit: Toolkit, state: RunState, emit: Emit) -> None:
    """What the contract names, and what the person's own tests import besides.

    Raises:
        PackagesError: a package cannot be had.
    """
    given = [item.code for item in state.request.given]
    names = kit.packages.imported(given, [state.agreed.module])
    await _provide(kit, state, emit, names.union(state.agreed.packages))
    own = {state.agreed.module, *(Path(item.name).stem for item in state.request.given)}
    imported = {item for code in given for item in imported_by(code)} - own
    for module in sorted(imported - _WITH_PYTEST):
        if not _is_there(state.provisions.installed, module):
            _tell(state, emit, module, "your tests import")


async def provide_imported(
    kit: Toolkit, state: RunState, emit: Emit, sources: Iterable[str], own: Collection[str]
) -> None:
    """Allowed packages that sources import, though the contract does not name them.

    To install one costs less than to ask a model again. Where it cannot be had the run goes on: its
    failures say what is missing. `own` are modules that are no packages.
    """
    await _try(kit, state, emit, kit.packages.imported(sources, own))


async def provide_missed(
    kit: Toolkit, state: RunState, emit: Emit, run: TestRun, own: Collection[str]
) -> bool:
    """The same for what a run missed (an import that no text shows); True where it has it now."""
    missed = {module for item in run.failures if (module := _missed(item))} - set(own)
    return await _try(kit, state, emit, kit.packages.allowed.imported(missed))


def explained(
    kit: Toolkit, state: RunState, emit: Emit, run: TestRun, own: Collection[str]
) -> TestRun:
    """The run, its missing modules with what is there instead: for the model that reads it."""
    installed = state.provisions.installed
    failures = []
    for item in run.failures:
        module = _missed(item)
        if module and module not in own and not _is_there(installed, module):
            _tell(state, emit, module, "the code or a test imports")
            names = {*map(with_import, installed.names), *kit.packages.allowed.shown}
            there = ", ".join(sorted(names)) or "nothing"
            why = f"{module} is not available; available besides the standard library: {there}"
            item = item.model_copy(update={"message": f"{item.message} ({why})"})
        failures.append(item)
    return run.model_copy(update={"failures": tuple(failures)})


async def _try(kit: Toolkit, state: RunState, emit: Emit, names: Collection[str]) -> bool:
    new = set(names) - state.provisions.refused
    try:
        return await _provide(kit, state, emit, new)
    except PackagesError as error:
        state.provisions.refused |= new
        emit(Notice(str(error)))
        return False


async def _provide(kit: Toolkit, state: RunState, emit: Emit, names: Collection[str]) -> bool:
    """Adds packages to those that the run has; True where there are more now."""
    has = state.provisions.installed.names
    wanted = tuple(sorted({*has, *names}))
    if wanted == has:
        return False
    found = await kit.packages.find(wanted)
    cached = found is not None
    if found is None:
        emit(PackagesAwaited(wanted))
        found = await kit.packages.install(wanted)
    state.provisions.installed = found
    emit(PackagesReady(found.short(), cached))
    return True


def own_modules(suite: Suite) -> set[str]:
    """Names that a suite's imports mean without a package: the module, and the files of tests."""
    return {suite.module, *(Path(item.name).stem for item in suite.files)}


def _missed(failure: Failure) -> str:
    """The top-level module whose absence this failure is about; '' where it is about another thing."""
    found = _MISSING.search(failure.message)
    if failure.exception != "ModuleNotFoundError" or found is None or is_standard(found[1]):
        return ""
    return found[1]


def _is_there(installed: Installed, module: str) -> bool:
    folder = Path(installed.folder)
    return bool(installed) and ((folder / module).exists() or (folder / f"{module}.py").exists())


def _tell(state: RunState, emit: Emit, module: str, who: str) -> None:
    """Once for each module: what the person can do, which the model cannot.

    Raises:
        InputError: it is a module of the person's that a script needs: nobody is to write it anew.
    """
    if module in state.provisions.told:
        return
    state.provisions.told.add(module)
    original = state.request.original
    own = module_beside(original.path, module) if original and state.request.script else ""
    if own:
        raise InputError(f"{module} lies beside the script, which may read it with: {own}")
    emit(
        Notice(
            f"{who} {module}, which is not available; "
            f"--allow-package {package_of(module)} would allow it"
        )
    )


_NO_SUCH_FILE = re.compile(r"No such file or directory: '([^']+)'")


def module_beside(original: str, module: str) -> str:
    """The option that lays a module of the person's beside the script; '' where there is none."""
    folder = Path(original).parent
    for name in (f"{module}.py", module):
        if (folder / name).exists():
            near = folder == Path.cwd()
            return f"--input {name}" if near else f"--input {folder / name}={name}"
    return ""


def file_elsewhere(run: TestRun, job: ScriptJob) -> str:
    """Of a file that was not found: that an input of its name lies in another place."""
    for failure in run.failures:
        found = _NO_SUCH_FILE.search(failure.message)
        if found is None or failure.exception != "FileNotFoundError" or found[1].startswith("/"):
            continue
        for item in job.inputs:
            if item.path != found[1] and PurePosixPath(item.path).name == Path(found[1]).name:
                return (
                    f"the script looks for {found[1]}, and the input lies at {item.path}: "
                    f"--input PATH={found[1]} would lay it there"
                )
    return ""
