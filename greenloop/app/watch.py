"""Targets of `--watch`: files and projects that are checked again at each save."""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from greenloop.app.check import CheckResult, OpenSandbox, check_files, create_check_directory
from greenloop.app.check_diff import check_diff, create_diff_directory
from greenloop.app.inputs.project_module import read_module
from greenloop.events import EventSink
from greenloop.project.diff import read_diff
from greenloop.project.exclusions import list_modules
from greenloop.settings import Settings

Stamp = frozenset[tuple[str, int, int]]

_MAX_FILES = 5000


@dataclass(frozen=True)
class Watched:
    """What is watched, for the user; the files to look at, and the check of their present texts.

    The check raises InputError if the files cannot be checked.
    """

    title: str
    list_files: Callable[[], Iterable[Path]]
    check: Callable[[OpenSandbox, EventSink], Coroutine[Any, Any, CheckResult]]

    def take_stamp(self) -> Stamp:
        """Return the names, times and sizes of the files, which change with each save."""
        found = set()
        for path in islice(self.list_files(), _MAX_FILES):
            try:
                status = path.stat()
            except OSError:  # an editor is replacing the file
                continue
            found.add((str(path), status.st_mtime_ns, status.st_size))
        return frozenset(found)


def watch_module(
    code: Path, tests: Sequence[Path], settings: Settings, run_dir: Path | None
) -> Watched:
    """Watch a module, its tests and their folders, for helpers and conftest.

    Creates the run directory. Raises InputError for files that cannot be checked.
    """
    directory = create_check_directory(settings, read_module(code, tests, settings), run_dir)
    folders = {path if path.is_dir() else path.parent for path in (code, *tests)}

    async def check(open_box: OpenSandbox, emit: EventSink) -> CheckResult:
        inputs = read_module(code, tests, settings)
        return await check_files(inputs, code, directory, settings, open_box, emit)

    return Watched(
        " ".join(map(str, (code, *tests))),
        lambda: (path for folder in folders for path in folder.glob("*.py")),
        check,
    )


def watch_project(root: Path, ref: str, settings: Settings, run_dir: Path | None) -> Watched:
    """Watch the lines of a project that have changed since a commit.

    Creates the run directory. Raises InputError if there is no such commit.
    """
    directory = create_diff_directory(settings, read_diff(root, ref), run_dir)

    async def check(open_box: OpenSandbox, emit: EventSink) -> CheckResult:
        return await check_diff(read_diff(root, ref), directory, settings, open_box, emit)

    return Watched(f"{root.resolve().name} since {ref}", lambda: list_modules(root, root), check)
