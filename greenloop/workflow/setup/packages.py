"""Installation of packages for a run: of contract and project, and those found missing."""

import re
from collections.abc import Collection
from pathlib import Path

from greenloop.dependencies import PackageAllowlist, PackageResolver
from greenloop.dependencies.names import find_imported_modules, format_with_import
from greenloop.errors import InputError, PackagesError
from greenloop.events import EventSink, Notice, PackageInstallStarted, PackagesReady
from greenloop.project.tree import ProjectTree
from greenloop.records import Failure, ScriptJob, TestRun
from greenloop.settings import Settings
from greenloop.workflow.heal.request import HealScriptRequest
from greenloop.workflow.setup.missing_modules import (
    describe_missing_module,
    find_missing_module,
)
from greenloop.workflow.state import Run, RunState

_READS_INPUT = re.compile(r"\b(?:stdin|fileinput)\b|\b(?:input|getpass)\(")
_READS_ARGUMENTS = re.compile(r"\bargv\b|\bparse_args\(")
_MISSING_FILE = re.compile(r"No such file or directory: '([^']+)'")
_PLUGIN_PREFIX = "pytest-"
_PYTEST_MODULES = frozenset("pytest _pytest pluggy iniconfig packaging pygments conftest".split())


async def install_contract_packages(run: Run) -> None:
    """Install what the contract names, and what the user's tests import.

    Raises PackagesError: a package cannot be installed.
    """
    state, given = run.state, [item.code for item in run.state.request.given]
    contract = state.agreed_contract
    names = run.kit.packages.find_imported(given, [contract.module])
    await add_packages(state, run.kit.packages, names.union(contract.packages), run.emit)
    local_names = {contract.module, *(Path(item.name).stem for item in state.request.given)}
    imported = {item for code in given for item in find_imported_modules(code)}
    there = local_names | _PYTEST_MODULES | state.packages.installed.import_names
    for module in sorted(imported - there):
        _notify_missing(run, module, "your tests import")


async def add_declared_packages(
    state: RunState, tree: ProjectTree | None, settings: Settings, emit: EventSink
) -> None:
    """Install the allowed packages that a project uses and that it or the user names.

    A named plug-in of pytest counts as used, as no code imports it. Without a project (None) only
    plug-ins count. If one cannot be installed, the failures of the tests say what is missing.
    """
    packages = PackageResolver(settings.allow_list)
    named = {*PackageAllowlist.parse("", settings.allow_package).names}
    used = {name for name in packages.allowlist.names if name.startswith(_PLUGIN_PREFIX)}
    if tree is not None:
        state.packages.own = tree.module_names
        named |= tree.declared_names
        used |= packages.find_imported(tree.texts.values(), tree.module_names)
    await try_packages(state, packages, used & named, emit)


async def install_missing_packages(run: Run, result: TestRun, local_names: Collection[str]) -> bool:
    """Install allowed packages that a test run did not find; return whether there are new ones."""
    missed = {module for item in result.failures if (module := find_missing_module(item))}
    allowed = run.kit.packages.allowlist.find_imported(missed - set(local_names))
    return await try_packages(run.state, run.kit.packages, allowed, run.emit)


def annotate_missing_modules(run: Run, result: TestRun, local_names: Collection[str]) -> TestRun:
    """Add the available packages to each failure on a missing module, for the model."""
    if run.state.environment:
        return result
    failures = (_annotate_failure(run, item, local_names) for item in result.failures)
    return result.model_copy(update={"failures": tuple(failures)})


def _annotate_failure(run: Run, failure: Failure, local_names: Collection[str]) -> Failure:
    installed, module = run.state.packages.installed, find_missing_module(failure)
    if not module or module in local_names or module in installed.import_names:
        return failure
    _notify_missing(run, module, "the code or a test imports")
    names = {*map(format_with_import, installed.names), *run.kit.packages.allowlist.descriptions}
    available = ", ".join(sorted(names)) or "nothing"
    why = f"{module} is not available; available besides the standard library: {available}"
    return failure.model_copy(update={"message": f"{failure.message} ({why})"})


async def try_packages(
    state: RunState, packages: PackageResolver, names: Collection[str], emit: EventSink
) -> bool:
    """Add packages; on failure emit why, and try again without the one that is unavailable."""
    new = set(names) - state.packages.unavailable
    try:
        return await add_packages(state, packages, new, emit)
    except PackagesError as error:
        emit(Notice(str(error)))
        absent = new & {error.absent}
        state.packages.unavailable |= absent or new
        return bool(absent) and await try_packages(state, packages, names, emit)


async def add_packages(
    state: RunState, packages: PackageResolver, names: Collection[str], emit: EventSink
) -> bool:
    """Add allowed packages to those of a run; return whether there are more now.

    None are added to the environment of a project. Raises PackagesError.
    """
    before = state.packages.installed.names
    wanted = tuple(sorted({*before, *names}))
    if state.environment or wanted == before:
        return False
    found = await packages.find_installed(wanted)
    is_cached = found is not None
    if found is None:
        emit(PackageInstallStarted(wanted))
        found = await packages.install(wanted)
    emit(PackagesReady(found.summary(), is_cached))
    state.packages.installed = found
    return True


def _notify_missing(run: Run, module: str, importer: str) -> None:
    """Emit one notice for each module, with the flag that would allow it.

    Raises:
        InputError: the module is beside the user's script: a model must not rewrite it.
    """
    request, is_new = run.state.request, module not in run.state.packages.notified
    path = request.original.path if isinstance(request, HealScriptRequest) and is_new else ""
    if path and (option := suggest_module_input(path, module)):
        raise InputError(f"{module} is beside the script; let the script read it with: {option}")
    run.notify_once(module, describe_missing_module(module, importer, run.state.packages.own))


def suggest_module_input(original: str, module: str) -> str:
    """Return the option that gives a script the module beside it, '' without one."""
    folder = Path(original).parent
    for name in (f"{module}.py", module):
        if (folder / name).exists():
            is_here = folder == Path.cwd()
            return f"--input {name}" if is_here else f"--input {folder / name}={name}"
    return ""


def suggest_input(result: TestRun, code: str, job: ScriptJob) -> str:
    """Return advice for a failed script: input that was not given, or that has another path."""
    if result.failures and not job.stdin and _READS_INPUT.search(code):
        return "the script reads its standard input, which is empty: --stdin FILE gives it"
    if result.failures and not job.arguments and _READS_ARGUMENTS.search(code):
        return "the script reads its arguments, and has none: write them after --"
    for failure in result.failures:
        found = _MISSING_FILE.search(failure.message)
        if found is None or failure.exception != "FileNotFoundError" or found[1].startswith("/"):
            continue
        near = (item.path for item in job.inputs if Path(item.path).name == Path(found[1]).name)
        path = next(near, "")
        there = f", but the input is at {path}" if path else ""
        source = "" if not path and Path(found[1]).is_file() else "PATH="
        return f"the script looks for {found[1]}{there}: --input {source}{found[1]} puts it there"
    return ""
