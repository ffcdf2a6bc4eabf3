"""References made from code: documents, `.env.example`, and the keywords of `run_coding_agent`.

    python -m tests.support.references        # writes them

Commands come from the command line, settings from the table in `greenloop.settings`, Python from
docstrings, `docs/report.md` from the report's schema.
"""

import ast
import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import greenloop
from greenloop.cli.options.commands import COMMANDS
from greenloop.cli.options.declaration import build_command
from greenloop.cli.usage import Command
from greenloop.configuration import Setting
from greenloop.grading import grade
from greenloop.integrations.langgraph import make_node, make_tool
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import list_settings
from tests.support.report_reference import render_reference

ROOT = Path(__file__).parents[2]
_MADE = "<!-- Made by `python -m tests.support.references`. -->"
# Settings of an option or of a configuration file, for which a variable is of no use.
_HIDDEN = ("models", "fence", "allow_package")
_MIN_COMMON = 4  # commands that have an option
_OPTION = re.compile(r"--[\w-]+")


class _RowCollector:
    """Takes the options of a help text, each with its section, as rows of a table."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str]] = []

    @contextmanager
    def section(self, title: str) -> Iterator[None]:
        self._title = title
        yield

    def write_dl(self, rows: Sequence[tuple[str, str]]) -> None:
        shown = [(name, text) for name, text in rows if "--help" not in name]
        self.rows += [(self._title, f"| `{_cell(n)}` | {_cell(text)} |") for n, text in shown]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def render_commands() -> str:
    """Return the reference of the command line; options of many commands are described once."""
    commands = {name: build_command(name, COMMANDS[name], Command) for name in COMMANDS}
    rows = {name: _list_rows(name, command) for name, command in commands.items()}
    counts = Counter(row for found in rows.values() for row in found)
    common = [row for row, count in counts.items() if count >= _MIN_COMMON]
    lines = [_read_head("commands"), "", "## Common options", *_format_tables(common)]
    for name, command in commands.items():
        own = [row for row in rows[name] if row not in common]
        shared = [f"`{_OPTION.findall(i[1])[0]}`" for i in common if i in rows[name]]
        lines += ["", f"## {name}", "", command.help, *_format_tables(own)]
        lines += ["", f"[Common options](#common-options): {', '.join(shared)}"] * bool(shared)
        lines += ["", "```console", *command.epilog.splitlines(), "```"] if command.epilog else []
    return "\n".join(lines) + "\n"


def _list_rows(name: str, command: Any) -> list[tuple[str, str]]:
    formatter = _RowCollector()
    command.format_options(command.make_context(name, [], resilient_parsing=True), formatter)
    return formatter.rows


def _format_tables(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a table for each section."""
    for title in dict.fromkeys(title for title, _ in rows):
        yield from ("", f"| {title} | |", "|---|---|")
        yield from (row for section, row in rows if section == title)


def render_settings() -> str:
    """Return the reference of the settings."""
    lines = [_read_head("settings")]
    for item in _list_variables():
        if item.section:
            lines += ["", f"## {item.section}", "", "| variable | default | meaning |"]
            lines.append("|---|---|---|")
        default = f"`{_value(item)}`" if _value(item) else ""
        about = f"{_cell(item.about)}{_range(item.field)}"
        lines.append(f"| `{item.variable}` | {default} | {about} |")
    return "\n".join(lines) + "\n"


def render_environment() -> str:
    """Return the file `.env.example`."""
    lines = [
        "# Copy to .env. Command-line options override the environment, which overrides this file."
    ]
    for item in _list_variables():
        lines += ["", f"# --- {item.section}"] if item.section else []
        lines += textwrap.wrap(item.about, 100, initial_indent="# ", subsequent_indent="# ")
        lines.append(f"#{item.variable}={item.example or _value(item)}")
    return "\n".join(lines) + "\n"


def render_keywords() -> str:
    """Return the module with the keywords of `run_coding_agent` and their types."""
    text = (ROOT / "greenloop" / "settings" / "table.py").read_text("utf-8")
    body = next(i.body for i in ast.parse(text).body if getattr(i, "name", "") == "SettingsTable")
    fields = [item for item in body if isinstance(item, ast.AnnAssign)]
    lines = [f"    {ast.unparse(item.target)}: {ast.unparse(item.annotation)}" for item in fields]
    text = (
        "\n".join(lines)
        .replace("'", '"')
        .replace("SecretStr", "str")
        .replace(": Path", ": str | Path")
    )
    return f"{_KEYWORDS}{text}\n"


_KEYWORDS = '''"""Settings as keywords, for type checkers. Made by `python -m tests.support.references`."""

from pathlib import Path
from typing import Literal, TypedDict


class SettingsKeywords(TypedDict, total=False):
    """The fields of `Settings`."""

'''


def _list_variables() -> Iterator[Setting]:
    return (item for item in list_settings() if item.name not in _HIDDEN)


def _value(item: Setting) -> str:
    return "" if item.default is None else str(item.default).replace("True", "true")


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
    text = re.sub(r"(?<!= )'([^']*)'", r"\1", str(inspect.signature(item))).replace("self, ", "")
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", text)


def _describe(item: Any) -> str:
    """Return a docstring as Markdown, with its sections as lists."""
    text = re.sub(r"^(Raises|Returns):\n", r"\1:\n\n", inspect.getdoc(item) or "", flags=re.M)
    return re.sub(r"^    ([\w, ]+Error): ", r"- \1: ", text, flags=re.M)


def _read_head(name: str) -> str:
    """Return what is written by hand above the mark in a document."""
    return (ROOT / "docs" / f"{name}.md").read_text("utf-8").partition(_MADE)[0] + _MADE


def render_all() -> dict[str, str]:
    """Return all references by the paths of their files."""
    documents = {
        "commands": render_commands(),
        "settings": render_settings(),
        "python": render_python(),
        "report": render_reference(),
    }
    return {f"docs/{name}.md": text for name, text in documents.items()} | {
        ".env.example": render_environment(),
        "greenloop/settings/keywords.py": render_keywords(),
    }


if __name__ == "__main__":
    for name, text in render_all().items():
        (ROOT / name).write_text(text, encoding="utf-8")
