"""What is typed for `greenloop report`. `--html` and `--markdown` may go without a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

_OPTIONAL_VALUE_FLAGS = ("--html", "--markdown")


class ReportCommand(TyperCommand):
    """Where an option that may be bare is not followed by a file, it stands for its usual place."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [*expand_bare_options(args)])


def expand_bare_options(args: list[str]) -> list[str]:
    """The arguments, with `--html=` for a bare `--html`: at the end, before an option, or before a
    folder, which is the run directory's place and no file."""
    read: list[str] = []
    for number, word in enumerate(args):
        following = args[number + 1] if number + 1 < len(args) else "--"
        bare = (following.startswith("-") and following != "-") or Path(following).is_dir()
        read.append(f"{word}=" if word in _OPTIONAL_VALUE_FLAGS and bare else word)
    return read


def report(
    run_dir: Annotated[
        Path | None,
        typer.Argument(help="The directory of a run, or its report.json; default: the latest."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="The report as it was saved.")] = False,
    html: Annotated[
        str | None,
        typer.Option(help="A page; default: report.html in the run directory.", metavar="[FILE]"),
    ] = None,
    open_page: Annotated[
        bool, typer.Option("--open", help="Show the page in a browser, or say where it is.")
    ] = False,
    junit: Annotated[str | None, typer.Option(help="JUnit XML.", metavar="FILE")] = None,
    markdown: Annotated[
        str | None,
        typer.Option(help="A short summary; default: standard output.", metavar="[FILE]"),
    ] = None,
    sarif: Annotated[
        str | None,
        typer.Option(help="Surviving mutants and findings as SARIF 2.1.0.", metavar="FILE"),
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="The report's JSON Schema; needs no run.")
    ] = False,
) -> None:
    """Show the report of a run, or write it in another form; - is standard output."""
    from greenloop.cli.commands.report import ReportOptions, report_command

    options = ReportOptions(
        json=json,
        html=html,
        open_page=open_page,
        junit=junit,
        markdown=markdown,
        sarif=sarif,
        schema=schema,
    )
    raise typer.Exit(report_command(run_dir, options))
