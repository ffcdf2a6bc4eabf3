"""`heal`: a script is repaired until it runs, a module until its tests pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from greenloop.agent import refused
from greenloop.app.inputs.heal_files import read_layout, read_original
from greenloop.app.requests import absolute, script_request, with_absolute_replays
from greenloop.cli.commands.script import ScriptOptions, check_folder, options_of
from greenloop.cli.confirm import check_terminal
from greenloop.cli.options.common import flags_in
from greenloop.cli.run_agent import carry_out, end
from greenloop.errors import GreenloopError, InputError
from greenloop.llm.factory import asks_nobody
from greenloop.settings import Settings
from greenloop.workflow.delivery import check_outputs
from greenloop.workflow.report_builder import own_version
from greenloop.workflow.storage.request import RunRequest, kept_options


@dataclass(frozen=True)
class HealOptions(ScriptOptions):
    """What is typed besides the settings."""

    tests: Sequence[Path] = ()
    seconds: float | None = None
    write: bool = False


def heal_typed(typed: dict[str, Any]) -> int:
    """`greenloop heal` from its parameters: the exit status."""
    options = replace(options_of(HealOptions, typed), write=typed["yes"])
    return heal_command(typed["file"], options, flags_in(typed))


def heal_command(file: Path, options: HealOptions, flags: dict[str, Any]) -> int:
    """`greenloop heal`: the exit status."""
    settings = Settings.model_construct()
    try:
        settings = Settings.load(**flags)
        request = _request(file, options, settings)
        check_outputs(request)
        check_folder(options.artifacts)
        if options.approve:
            check_terminal()
    except GreenloopError as error:
        error.report = refused(settings, "", error, options.run_dir)
        return end(error.report, error, options)
    return carry_out(lambda agent: agent.run(request, options.run_dir), request, settings, options)


def _request(file: Path, options: HealOptions, settings: Settings) -> RunRequest:
    original = read_original(file)
    request = RunRequest(
        kind="heal",
        specification="",
        original=original,
        output=absolute(options.output),
        record=absolute(options.record),
        search_s=options.seconds,
        write=options.write,
        options=with_absolute_replays(kept_options(settings)),
        greenloop=own_version(),
    )
    if not options.tests:
        if asks_nobody(settings):
            raise InputError("--model none searches with tests as its guide: name them by --tests")
        script = script_request(original.name, options)
        return request.model_copy(update={"script": script})
    _check_for_tests(options)
    layout = read_layout(file, options.tests)
    found = {"module": layout.module, "given": layout.given, "project": layout.project}
    return request.model_copy(update=found)


def _check_for_tests(options: HealOptions) -> None:
    """Raises InputError where something is asked for that only a script has."""
    asked = {
        "arguments after --": options.arguments,
        "--input": options.inputs,
        "--stdin": options.stdin,
        "--expect": options.expected.texts,
        "--expect-file": options.expected.files,
        "--expect-json-schema": options.expected.schema,
        "--allow-network": options.allow_network,
        "--artifacts": options.artifacts,
    }
    if wrong := [name for name, value in asked.items() if value]:
        raise InputError(f"{wrong[0]}: for scripts alone; with --tests the tests say what is right")
