"""The command `runs`: list the stored runs, or remove old ones."""

import json
import sys
import time
from collections.abc import Sequence
from shutil import get_terminal_size

from greenloop.app.run_list import (
    KeptRun,
    Removable,
    RemovablePackages,
    find_old_folders,
    list_runs,
    remove,
)
from greenloop.cli.approval import confirm
from greenloop.cli.options.tools import RunsOptions
from greenloop.cli.process import check_terminal, write_stdout
from greenloop.records.base import escape_json
from greenloop.reporting.escaping import first_line
from greenloop.reporting.summary import pluralize, shorten_path
from greenloop.settings import Settings

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))
_MAX_TEXT = 50  # characters
_WIDE, _SHORT = 150, 35  # columns for a run in one line; columns of its text in two lines


def runs_command(options: RunsOptions) -> int:
    """Run `greenloop runs` and return the exit status."""
    home = Settings.load().home
    if options.prune:
        return _prune(options)
    runs = list_runs(home)
    if options.json:
        _print_json(runs)
        return 0
    write_stdout("".join(map(_format, runs)))
    if not runs:
        print(f"there are no runs in {home / 'runs'}", file=sys.stderr)
    return 0


def _print_json(found: Sequence[KeptRun | Removable]) -> None:
    rows = [{**vars(item), "path": str(item.path)} for item in found]
    write_stdout(escape_json(json.dumps(rows, indent=1)) + "\n")


def _prune(options: RunsOptions) -> int:
    """Remove old folders after confirmation, and print them."""
    home, days = Settings.load().home, options.older_than
    found = list(find_old_folders(home, days))
    rows = (f"{format_size(item.size):>8}  {shorten_path(str(item.path))}\n" for item in found)
    if not options.json:
        write_stdout("".join(rows) or f"nothing is older than {days:g} days\n")
    if found and not options.yes:
        check_terminal("--prune without --yes")
        if not confirm(f"remove {_describe(found)}? [y/N] "):
            return 1
    removed = list(remove(home, days, found))
    if options.json:
        _print_json(removed)
    elif found:
        write_stdout(f"removed {_describe(removed)}\n")
    return 0


def _describe(found: Sequence[Removable]) -> str:
    """Return number and size of folders, and where packages are that other projects use too."""
    whole = f"{pluralize(len(found), 'folder')}, {format_size(sum(i.size for i in found))}"
    packages = [item.path.parent for item in found if isinstance(item, RemovablePackages)]
    if not packages:
        return whole
    cache = shorten_path(str(packages[0]))
    return f"{whole}, with {pluralize(len(packages), 'package set')} of all projects in {cache}"


def _format(item: KeptRun) -> str:
    verdict = item.verdict or ("interrupted" if item.can_resume else "ended early")
    text = first_line(item.text.lstrip("# "), _MAX_TEXT)
    age, size = format_age(time.time() - item.changed), format_size(item.size)
    place = shorten_path(str(item.path))
    if sys.stdout.isatty() and get_terminal_size().columns < _WIDE:
        return (
            f"{verdict:11}  {age:>10}  {size:>8}  {item.kind:6}  {text[:_SHORT]}\n{'':13}{place}\n"
        )
    return f"{verdict:11}  {age:>10}  {size:>8}  {item.kind:6}  {text:{_MAX_TEXT}}  {place}\n"


def format_age(seconds: float) -> str:
    """Return a duration in its largest unit, as `3 hours`."""
    unit = next((item for item in _UNITS if seconds >= item[0]), _UNITS[-1])
    return pluralize(int(seconds // unit[0]), unit[1])


def format_size(size: int) -> str:
    """Return a number of bytes as `1.2 MB`."""
    for unit, name in ((10**9, "GB"), (10**6, "MB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size / 1000:.0f} kB"
