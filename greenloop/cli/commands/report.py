"""The command `report`: show a saved report, or write it in other formats."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from greenloop.cli.batch_index import INDEX_FILE, is_batch_folder, read_batch, render_batch_page
from greenloop.cli.finish import STDOUT, open_page, write_output
from greenloop.cli.options.tools import ReportOptions
from greenloop.cli.process import escape_displayed, print_error
from greenloop.errors import InputError
from greenloop.records import Report
from greenloop.reporting.batch import (
    render_batch_junit,
    render_batch_lines,
    render_batch_markdown,
)
from greenloop.reporting.formats.junit import render_junit
from greenloop.reporting.formats.markdown import render_markdown
from greenloop.reporting.formats.sarif import render_sarif
from greenloop.reporting.html.page import render_report_html
from greenloop.reporting.loader import read_report, render_schema
from greenloop.reporting.summary import shorten_path
from greenloop.settings import Settings

_MAX_WIDTH = 160
Output = tuple[str, str]  # the name of a file, and its text


def report_command(options: ReportOptions) -> int:
    """Run `greenloop report` and return the exit status."""
    if options.schema:
        sys.stdout.write(render_schema())
        return 0
    place = options.run_dir or _find_latest_run(Settings.load().home)
    if options.write is not None:
        from greenloop.cli.delivery import write_run  # loads packages of models

        write_run(options.write, place if place.is_dir() else place.parent)
    if is_batch_folder(place):
        outputs, page, text = _render_batch(place, options)
    else:
        report, page = read_report(place), _page_path(place, options)
        outputs, text = list(_render_outputs(report, page, options)), _render_text(report)
    outputs.sort(key=lambda item: item[0] == STDOUT)  # files first: they may fail
    for name, content in outputs:
        write_output(name, content)
    if options.html == "" and not options.open_page:
        print_error(f"wrote {shorten_path(str(page))}")
    if options.open_page:
        open_page(page)
        sys.stdout.write(f"{page.absolute()}\n")
    elif not outputs and options.write is None:
        sys.stdout.write(text)
    sys.stdout.flush()
    return 0


def _render_text(report: Report) -> str:
    """Return the report as Markdown, rendered for the width of a terminal if there is one."""
    text = render_markdown(report, folds=False)
    if not sys.stdout.isatty():
        return text
    console = Console(width=min(shutil.get_terminal_size().columns, _MAX_WIDTH))
    with console.capture() as shown:
        console.print(Markdown(text))
    return shown.get()


def _render_batch(folder: Path, options: ReportOptions) -> tuple[list[Output], Path, str]:
    """Return the outputs for a batch, its page, and the text for a terminal.

    Raises InputError: the options name a format that only runs have.
    """
    if options.sarif is not None or options.json or options.code:
        raise InputError(
            f"{folder} is the folder of a batch: name one of its runs, in {folder / 'runs'}"
        )
    summary = read_batch(folder)
    outputs: list[Output] = []
    page = Path(options.html) if options.html and options.html != STDOUT else folder / INDEX_FILE
    if options.html is not None:
        outputs.append((options.html or str(page), render_batch_page(summary, page.parent)))
    elif options.open_page and not page.is_file():  # the batch was killed
        outputs.append((str(page), render_batch_page(summary, folder)))
    if options.junit is not None:
        outputs.append((options.junit, render_batch_junit(summary)))
    if options.markdown is not None:
        outputs.append((options.markdown or STDOUT, render_batch_markdown(summary)))
    return outputs, page, "".join(f"{line}\n" for line in render_batch_lines(summary))


def _render_outputs(report: Report, page: Path, options: ReportOptions) -> Iterator[Output]:
    """Yield the name and the text of each output."""
    if options.code:
        yield STDOUT, escape_displayed(report.final_code)
    if options.json:
        yield STDOUT, report.model_dump_json(indent=1) + "\n"
    if options.html is not None or options.open_page:
        yield STDOUT if options.html == STDOUT else str(page), render_report_html(report)
    if options.junit is not None:
        yield options.junit, render_junit(report, Settings.load().require)
    if options.markdown is not None:
        yield options.markdown or STDOUT, render_markdown(report)
    if options.sarif is not None:
        yield options.sarif, render_sarif(report)


def _page_path(path: Path, options: ReportOptions) -> Path:
    folder = path if path.is_dir() else path.parent
    named = options.html if options.html != STDOUT else ""
    return Path(named) if named else folder / "report.html"


def _find_latest_run(home: Path) -> Path:
    runs = [path for path in (home / "runs").glob("*") if (path / "run.json").is_file()]
    if not runs:
        raise InputError(f"there are no runs in {home / 'runs'} yet; name a run directory")
    # A resumed run has an old `run.json` and a new report.
    return max(runs, key=lambda path: max(file.stat().st_mtime for file in path.glob("*.json")))
