"""The command `doctor`: show model, sandbox and versions, and how to add what is missing."""

import json
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import partial

import typer

from greenloop.cli.options.settings import load_settings
from greenloop.cli.options.tools import DoctorOptions
from greenloop.cli.process import fit_terminal
from greenloop.dependencies import PackageStore
from greenloop.errors import GreenloopError
from greenloop.llm.budget import UNPRICED_PROVIDER
from greenloop.llm.model_selection import can_reach, choose_model, list_served_models
from greenloop.reporting.progress.messages import WARNING, is_unsandboxed
from greenloop.reporting.summary import pluralize
from greenloop.sandbox import open_sandbox
from greenloop.settings import Settings
from greenloop.versions import get_installed_version, greenloop_version, is_small

_PACKAGES = "pytest ruff black typer rich".split()
_MODEL_PACKAGES = "langchain langchain-core langchain-openai".split()
_PROBE_CODE = "def double(x):\n    return 2 * x\n"
_PROBE_TESTS = "from probe import double\n\ndef test_double():\n    assert double(2) == 4\n"


@dataclass(frozen=True)
class Diagnostic:
    """The result of one check."""

    name: str
    ok: bool
    found: str
    mend: str = ""  # the remedy, '' if nothing is missing
    status: int = 0
    danger: bool = False  # an unsafe setting was chosen


def doctor_command(options: DoctorOptions) -> int:
    """Run `greenloop doctor`; return 0, or the status of the first check that failed."""
    settings = load_settings(options)
    is_verbose = options.verbose or options.json
    checks = [
        _check_versions(is_verbose=is_verbose),
        _run_check("sandbox", partial(_check_sandbox, is_verbose=is_verbose), settings),
        _run_check("packages", partial(_check_packages, is_verbose=is_verbose), settings),
    ]
    if not is_small():
        checks.append(_run_check("model", _check_model, settings))
    as_json = json.dumps({item.name: asdict(item) for item in checks}, indent=1) + "\n"
    sys.stdout.write(as_json if options.json else fit_terminal(_as_text(checks), sys.stdout))
    return next((item.status for item in checks if not item.ok), 0)


def _check_versions(*, is_verbose: bool) -> Diagnostic:
    names = _PACKAGES if is_small() else [*_MODEL_PACKAGES, *_PACKAGES]
    packages = ", ".join(f"{name} {get_installed_version(name) or 'MISSING'}" for name in names)
    missing = [name for name in names if get_installed_version(name) is None]
    found = f"greenloop {greenloop_version()}, Python {platform.python_version()}"
    found += f", {packages}" * is_verbose
    mend = f"pip install {' '.join(missing)}" if missing else ""
    return Diagnostic("versions", not missing, found, mend, status=1)


def _run_check(
    name: str, check: Callable[[Settings], Diagnostic], settings: Settings
) -> Diagnostic:
    try:
        return check(settings)
    except GreenloopError as error:
        first, _, rest = str(error).partition("\n")
        return Diagnostic(name, False, first, rest, error.exit_status)


def _check_sandbox(settings: Settings, *, is_verbose: bool) -> Diagnostic:
    """Run a test in the sandbox."""
    with open_sandbox(settings) as sandbox:
        run = sandbox.run_tests(_PROBE_CODE, _PROBE_TESTS)
        info = sandbox.info
    is_short = not is_verbose and not is_unsandboxed(info.backend)
    isolation = f", {info.isolation.partition(':')[0]}" if is_short else f": {info.isolation}"
    found = f"{info.backend}{isolation}; a test run took {run.duration_s:.2f} s"
    if run.passed:
        return Diagnostic("sandbox", True, found, danger=is_unsandboxed(info.backend))
    return Diagnostic(
        "sandbox", False, found, f"a simple test does not pass in it: {run}", status=4
    )


def _check_packages(settings: Settings, *, is_verbose: bool) -> Diagnostic:
    """Show the allowed packages and their cache; the package registry is not contacted."""
    allowed, store = settings.allow_list.descriptions, PackageStore()
    shown = ", ".join(allowed) if is_verbose else f"{len(allowed) or 'no'} packages"
    kept = pluralize(len(store.list_folders()), "set")
    found = f"generated code may use {shown}; {kept} of packages in {store.root}"
    mend = "" if get_installed_version("pip") else f"{sys.executable} -m ensurepip"
    return Diagnostic("packages", not mend, found, mend, status=4)


def _check_model(settings: Settings) -> Diagnostic:
    """Set up the model and look it up on its server, without a call, which would cost money."""
    from greenloop.llm.factory import open_source  # not in the distribution without models

    choice = choose_model(settings)
    source = open_source(choice, settings)
    because = f" ({choice.reason})" if choice.reason else ""
    address = choice.base_url or settings.openai_base_url or ""
    if source.name.startswith(f"{UNPRICED_PROVIDER}:") and not can_reach(address):
        mend = f"no server answers at {address}; check that it runs, and the address"
        return Diagnostic("model", False, f"{choice.name}{because}", mend, status=3)
    served, name = list_served_models(choice, settings), choice.name.partition(":")[2]
    if served and not {name, f"{name}:latest"} & set(served):
        close = get_close_matches(name, served, 1) or served[:3]
        mend = f"the server has no model {name}; it has {', '.join(close)}"
        return Diagnostic("model", False, f"{choice.name}{because}", mend, status=3)
    how = (
        "the server has it; not called"
        if served
        else "the server does not list its models; not called"
    )
    if choice.name.startswith("replay:"):
        how = "recorded answers; no server is called"
    return Diagnostic("model", True, f"{choice.name}{because}; {how}")


def _as_text(checks: list[Diagnostic]) -> str:
    lines: list[str] = []
    for item in checks:
        label = WARNING if item.danger else "ok" if item.ok else "MISSING"
        line = f"{label:7}  {item.name}: {item.found}"
        if item.danger and sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
            line = typer.style(line, fg="red", bold=True)
        lines.append(line)
        lines += [f"         {line}" for line in item.mend.split("\n") if line]
    return "\n".join(lines) + "\n"
