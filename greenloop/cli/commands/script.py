"""`script`: a task becomes a script whose output is checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from greenloop.agent import refused
from greenloop.app.inputs.script_inputs import read_inputs, read_stdin
from greenloop.app.inputs.specification import read_specification
from greenloop.cli.commands.make import absolute, with_absolute_replays
from greenloop.cli.confirm import check_terminal
from greenloop.cli.options.common import flags_in
from greenloop.cli.run_agent import Shown, carry_out, end
from greenloop.errors import GreenloopError, OutputError
from greenloop.records import OutputCheck
from greenloop.scripts.checks.options import load_schema, parse_expect, parse_expect_file
from greenloop.settings import Settings
from greenloop.workflow.delivery import check_outputs
from greenloop.workflow.report_builder import own_version
from greenloop.workflow.storage.request import RunRequest, ScriptRequest, kept_options


@dataclass(frozen=True)
class Expected:
    """What was typed of a script's output."""

    texts: Sequence[str] = ()
    files: Sequence[str] = ()
    schema: Path | None = None

    def checks(self) -> Iterator[OutputCheck]:
        """The checks. Raises InputError where one has no meaning."""
        for text in self.texts:
            yield parse_expect(text)
        for text in self.files:
            yield from parse_expect_file(text)
        if self.schema is not None:
            yield load_schema(self.schema)


@dataclass(frozen=True)
class ScriptOptions(Shown):
    """What is typed besides the settings."""

    output: Path | None = None
    artifacts: Path | None = None
    inputs: Sequence[str] = ()
    stdin: Path | None = None
    arguments: Sequence[str] = ()
    expected: Expected = field(default_factory=Expected)
    allow_network: Sequence[str] = ()
    record: Path | None = None


Kind = TypeVar("Kind", bound=ScriptOptions)


def options_of(kind: type[Kind], typed: dict[str, Any]) -> Kind:
    """What was typed, by parameter, as the options of a command."""
    expected = Expected(
        tuple(typed["expect"] or ()), tuple(typed["expect_file"] or ()), typed["expect_json_schema"]
    )
    lists = ("arguments", "allow_network", "tests")
    values: dict[str, Any] = {n: tuple(typed[n] or ()) for n in lists if n in typed}
    values |= {"inputs": tuple(typed["input"] or ()), "expected": expected}
    known = {item.name for item in fields(kind)}
    return kind(**{name: typed[name] for name in known & set(typed)} | values)


def script_typed(typed: dict[str, Any]) -> int:
    """`greenloop script` from its parameters: the exit status."""
    return script_command(typed["task"], options_of(ScriptOptions, typed), flags_in(typed))


def script_command(task: str, options: ScriptOptions, flags: dict[str, Any]) -> int:
    """`greenloop script`: the exit status."""
    settings = Settings.model_construct()
    try:
        settings = Settings.load(**flags)
        request = _request(task, options, settings)
        check_outputs(request)
        check_folder(options.artifacts)
        if options.approve:
            check_terminal()
    except GreenloopError as error:
        error.report = refused(settings, task, error, options.run_dir)
        return end(error.report, error, options)
    return carry_out(lambda agent: agent.run(request, options.run_dir), request, settings, options)


def script_request(name: str, options: ScriptOptions) -> ScriptRequest:
    """How a script is run and checked. Raises InputError."""
    return ScriptRequest(
        name=name,
        arguments=tuple(options.arguments),
        stdin=read_stdin(options.stdin),
        inputs=read_inputs(options.inputs),
        checks=tuple(options.expected.checks()),
        allow_network=tuple(options.allow_network),
        artifacts=absolute(options.artifacts),
    )


def check_folder(path: Path | None) -> None:
    """Raises OutputError where `--artifacts` names something that is no folder."""
    if path is not None and path.exists() and not path.is_dir():
        raise OutputError(f"--artifacts {path} is a file; name a folder")


def _request(task: str, options: ScriptOptions, settings: Settings) -> RunRequest:
    name = options.output.name if options.output else "script.py"
    return RunRequest(
        kind="script",
        specification=read_specification(task).text,
        script=script_request(name, options),
        output=absolute(options.output),
        record=absolute(options.record),
        keep_best=options.keep_best,
        options=with_absolute_replays(kept_options(settings)),
        greenloop=own_version(),
    )
