"""How a script is run, from command-line options or the arguments of an MCP call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from greenloop.app.inputs.script_inputs import read_inputs, read_stdin
from greenloop.app.requests import to_absolute_path
from greenloop.records import OutputCheck
from greenloop.scripts.checks.options import load_schema, parse_expect, parse_expect_file
from greenloop.workflow.script.request import ScriptSpec


class ScriptArguments(NamedTuple):
    """How a script is run and what its output is checked for, as the options of these names."""

    arguments: Sequence[str] | None = None
    input: Sequence[str] | None = None
    stdin: Path | None = None
    expect: Sequence[str] | None = None
    expect_file: Sequence[str] | None = None
    expect_json_schema: Path | None = None
    allow_network: Sequence[str] | None = None
    artifacts: Path | None = None

    def parse_checks(self) -> Iterator[OutputCheck]:
        """Parse the checks. Raises InputError where one is malformed."""
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
        inputs=read_inputs(options.input or ()),
        checks=tuple(options.parse_checks()),
        allow_network=tuple(options.allow_network or ()),
        artifacts=to_absolute_path(options.artifacts),
    )
