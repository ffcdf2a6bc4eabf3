"""Construction of requests, with the settings that a resumed run needs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.app.inputs.script_inputs import read_inputs, read_stdin
from greenloop.records import OutputCheck
from greenloop.scripts.checks.options import load_schema, parse_expect, parse_expect_file
from greenloop.settings import Settings
from greenloop.versions import greenloop_version
from greenloop.workflow.script.request import ScriptSpec
from greenloop.workflow.storage.request import (
    RequestT,
    select_saved_options,
    with_absolute_replay,
)


def build_request(kind: type[RequestT], settings: Settings, **fields: Any) -> RequestT:
    """Return a request with the settings that a resumed run needs."""
    options = select_saved_options(settings)
    for name in ("model", "fallback_model"):  # the settings hold an absolute path of prompts
        if model := options[name]:
            options = {**options, name: with_absolute_replay(str(model))}
    return kind(options=options, greenloop=greenloop_version(), **fields)


def to_absolute_path(path: Path | None) -> str | None:
    """Return an absolute path as a string: a run may be resumed from another folder."""
    return str(path.absolute()) if path is not None else None


@dataclass(frozen=True, slots=True)
class ScriptArguments:
    """Options with which a script is run and its output is checked, by their names."""

    arguments: Sequence[str] | None = None
    input: Sequence[str] | None = None
    stdin: Path | None = None
    expect: Sequence[str] | None = None
    expect_file: Sequence[str] | None = None
    expect_json_schema: Path | None = None
    artifacts: Path | None = None

    def parse_checks(self) -> Iterator[OutputCheck]:
        """Parse the checks. Raises InputError if one is malformed."""
        for text in self.expect or ():
            yield parse_expect(text)
        for text in self.expect_file or ():
            yield from parse_expect_file(text)
        if self.expect_json_schema is not None:
            yield load_schema(self.expect_json_schema)


def build_script_request(name: str, options: ScriptArguments) -> ScriptSpec:
    """Read the inputs and parse the checks of a script. Raises InputError."""
    return ScriptSpec(
        name=name,
        arguments=tuple(options.arguments or ()),
        stdin=read_stdin(options.stdin),
        inputs=read_inputs(options.input or (), own=name),
        checks=tuple(options.parse_checks()),
        artifacts=to_absolute_path(options.artifacts),
    )
