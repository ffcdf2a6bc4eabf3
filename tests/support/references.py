"""References made from code: `docs/commands.md`, `docs/settings.md`, `docs/python.md`.

    python -m tests.support.references        # writes them, and docs/report.md

Commands come from the command line, settings from `Settings` with the comments of `.env.example`, Python
from docstrings.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import greenloop
from greenloop.cli.options.commands import COMMANDS, load_options
from greenloop.cli.options.declaration import build_command
from greenloop.grading import grade
from greenloop.integrations.langgraph import make_node, make_tool
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from tests.support.report_reference import render_reference

ROOT = Path(__file__).parents[2]
_MADE = "<!-- Made by `python -m tests.support.references`. -->"
# Fields that have no environment variable of their own to set, or a deprecated one.
_HIDDEN = ("former_", "models", "fence", "allow_package")


class _MarkdownFormatter:
    """Takes the sections of a help text as tables."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    @contextmanager
    def section(self, title: str) -> Iterator[None]:
        self.lines += ["", f"| {title} | |", "|---|---|"]
        yield

    def write_dl(self, rows: Sequence[tuple[str, str]]) -> None:
        self.lines += [f"| `{_cell(name)}` | {_cell(text)} |" for name, text in rows]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def render_commands() -> str:
    """Return the reference of the command line."""
    lines = [_read_head("commands")]
    for name in COMMANDS:
        command = build_command(name, load_options(name))
        formatter, context = _MarkdownFormatter(), command.make_context(
            name, [], resilient_parsing=True
        )
        command.format_options(context, formatter)
        examples = ["", "```console", *(command.epilog or "").splitlines(), "```"]
        lines += [
            "",
            f"## {name}",
            "",
            command.help,
            *formatter.lines,
            *(examples * bool(command.epilog)),
        ]
    return "\n".join(lines) + "\n"


def render_settings() -> str:
    """Return the reference of the settings, in the order and sections of `.env.example`."""
    fields = {item.validation_alias: item for item in Settings.model_fields.values()}
    lines, about = [_read_head("settings")], ""
    for line in (ROOT / ".env.example").read_text("utf-8").splitlines():
        if line.startswith("# ---"):
            lines += ["", f"## {line[6:]}", "", "| variable | default | meaning |", "|---|---|---|"]
        elif found := re.match(r"#?([A-Z_]+)=", line):
            field = fields[found[1]]
            lines.append(f"| `{found[1]}` | {_default(field)} | {_cell(about)}{_range(field)} |")
        about = f"{about} {line[2:]}" if re.match(r"# (?!---)", line) else ""
    return "\n".join(lines) + "\n"


def find_undescribed_settings() -> list[str]:
    """Return the variables that `.env.example` leaves out or does not describe."""
    known = [
        str(item.validation_alias)
        for name, item in Settings.model_fields.items()
        if not name.startswith(_HIDDEN)
    ]
    text = render_settings()
    return [
        name for name in known if not re.search(rf"^\| `{name}` \|.*\| [^|]{{10,}}\|$", text, re.M)
    ]


def _default(field: Any) -> str:
    return "" if field.default is None else f"`{str(field.default).replace('True', 'true')}`"


def _range(field: Any) -> str:
    """Return the values that a field may have, in words."""
    signs = {"gt": "above", "ge": "at least", "le": "at most"}
    shown = [
        f"{word} {getattr(limit, name):,}"
        for limit in field.metadata
        for name, word in signs.items()
        if hasattr(limit, name)
    ]
    choices = [item for item in get_args(field.annotation) if isinstance(item, str)]
    return f" ({', '.join(choices or shown)})" if choices or shown else ""


def render_python() -> str:
    """Return the reference of the Python interface."""
    lines = [_read_head("python"), "", "## Reference"]
    for name, item in _list_public_objects():
        lines += ["", f"### {name}", ""]
        if inspect.isfunction(item):
            lines += ["```console", f"{item.__name__}{_signature(item)}", "```", ""]
        lines.append(_describe(item))
    return "\n".join(lines) + "\n"


def _list_public_objects() -> Iterator[tuple[str, Any]]:
    for name in greenloop.__all__:
        yield f"greenloop.{name}", getattr(greenloop, name)
    yield "greenloop.CodingAgent.run", greenloop.CodingAgent.run
    yield "greenloop.sandbox.open_sandbox", open_sandbox
    yield "greenloop.sandbox.Sandbox.run_tests", Sandbox.run_tests
    yield "greenloop.grading.grade", grade
    yield "greenloop.integrations.langgraph.make_node", make_node
    yield "greenloop.integrations.langgraph.make_tool", make_tool


def _signature(item: Callable[..., Any]) -> str:
    return re.sub(r"'([^']*)'", r"\1", str(inspect.signature(item))).replace("self, ", "")


def _describe(item: Any) -> str:
    """Return a docstring as Markdown, with its sections as lists."""
    text = re.sub(r"^(Raises|Returns):\n", r"\1:\n\n", inspect.getdoc(item) or "", flags=re.M)
    return re.sub(r"^    ([\w, ]+Error): ", r"- \1: ", text, flags=re.M)


def _read_head(name: str) -> str:
    """Return what is written by hand above the mark in a document."""
    return (ROOT / "docs" / f"{name}.md").read_text("utf-8").partition(_MADE)[0] + _MADE


def render_all() -> dict[str, str]:
    """Return all references by the names of their documents."""
    made = {"commands": render_commands, "settings": render_settings, "python": render_python}
    return {name: render() for name, render in made.items()} | {"report": render_reference()}


if __name__ == "__main__":
    for name, text in render_all().items():
        (ROOT / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
