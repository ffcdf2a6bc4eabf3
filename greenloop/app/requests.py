"""Parts of requests, from command-line options or the arguments of an MCP call."""

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
    """Expectations of a script's output, as options state them."""

    texts: Sequence[str] = ()
    files: Sequence[str] = ()
    schema: Path | None = None

    def parse_checks(self) -> Iterator[OutputCheck]:
        """Parse the checks. Raises InputError where one is malformed."""
        for text in self.texts:
            yield parse_expect(text)
        for text in self.files:
            yield from parse_expect_file(text)
        if self.schema is not None:
            yield load_schema(self.schema)


@dataclass(frozen=True)
class ScriptArguments:
    """How a script is run and what its output is checked for, as options state it."""

    artifacts: Path | None = None
    inputs: Sequence[str] = ()
    stdin: Path | None = None
    arguments: Sequence[str] = ()
    expected: OutputExpectations = field(default_factory=OutputExpectations)
    allow_network: Sequence[str] = ()


def build_script_request(name: str, options: ScriptArguments) -> ScriptSpec:
    """Read the inputs and parse the checks of a script. Raises InputError."""
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
    """Return an absolute path as a string: a run may be resumed from another folder."""
    return str(path.absolute()) if path is not None else None


def with_absolute_replays(kept: SavedOptions) -> SavedOptions:
    """Make paths in options absolute: replay files, and the folder of prompts."""
    models = {name: str(kept[name]) for name in ("model", "fallback_model")}
    replays = {name: text[7:] for name, text in models.items() if text.startswith("replay:")}
    paths = {name: f"replay:{Path(path).absolute()}" for name, path in replays.items()}
    if folder := kept.get("prompts"):
        paths["prompts"] = str(Path(str(folder)).absolute())
    return {**kept, **paths}
