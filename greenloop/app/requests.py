"""Requests of runs, from what was typed or sent by a host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.app.inputs.script_inputs import read_inputs, read_stdin
from greenloop.records import OutputCheck
from greenloop.scripts.checks.options import load_schema, parse_expect, parse_expect_file
from greenloop.workflow.storage.request import SavedOptions, ScriptSpec


@dataclass(frozen=True)
class OutputExpectations:
    """What was typed of a script's output."""

    texts: Sequence[str] = ()
    files: Sequence[str] = ()
    schema: Path | None = None

    def parse_checks(self) -> Iterator[OutputCheck]:
        """The checks. Raises InputError where one has no meaning."""
        for text in self.texts:
            yield parse_expect(text)
        for text in self.files:
            yield from parse_expect_file(text)
        if self.schema is not None:
            yield load_schema(self.schema)


@dataclass(frozen=True)
class ScriptArguments:
    """How a script is run and what its output is checked for."""

    artifacts: Path | None = None
    inputs: Sequence[str] = ()
    stdin: Path | None = None
    arguments: Sequence[str] = ()
    expected: OutputExpectations = field(default_factory=OutputExpectations)
    allow_network: Sequence[str] = ()


def build_script_request(name: str, options: ScriptArguments) -> ScriptSpec:
    """How a script is run and checked. Raises InputError."""
    return ScriptSpec(
        name=name,
        arguments=tuple(options.arguments),
        stdin=read_stdin(options.stdin),
        inputs=read_inputs(options.inputs),
        checks=tuple(options.expected.parse_checks()),
        allow_network=tuple(options.allow_network),
        artifacts=to_absolute_path(options.artifacts),
    )


def to_absolute_path(path: Path | None) -> str | None:
    """The path as a run keeps it, which may be resumed from elsewhere."""
    return str(path.absolute()) if path is not None else None


def with_absolute_replays(kept: SavedOptions) -> SavedOptions:
    """A replay file's path as it will still mean the same file when the run is resumed elsewhere."""
    names = ("model", "fallback_model")
    replays = {name: str(kept[name]) for name in names if str(kept[name]).startswith("replay:")}
    return {
        **kept,
        **{name: f"replay:{Path(text[7:]).absolute()}" for name, text in replays.items()},
    }
