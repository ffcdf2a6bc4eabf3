"""Targets of `--watch`: files and projects that are checked again at each save."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop.app.check import CheckResult, OpenSandbox, check_files, create_check_directory
from greenloop.app.check_diff import check_diff, create_diff_directory
from greenloop.app.inputs.project_module import read_module
from greenloop.events import EventSink
from greenloop.project.diff import read_diff
from greenloop.settings import Settings
from greenloop.workflow.storage.run_dir import RunDirectory

Stamp = frozenset[tuple[str, int, int]]

_IGNORED_FOLDERS = frozenset({"__pycache__", "node_modules", "build", "dist", "venv"})
_MAX_FILES = 5000


@dataclass(frozen=True)
class WatchedModule:
    """A module and its test files; their folders are watched too, for helpers and conftest."""

    code: Path
    tests: tuple[Path, ...]
    directory: RunDirectory

    @classmethod
    def create(
        cls, code: Path, tests: Sequence[Path], settings: Settings, run_dir: Path | None
    ) -> "WatchedModule":
        """Create the run directory. Raises InputError for files that cannot be checked."""
        inputs = read_module(code, tests, settings)
        return cls(code, tuple(tests), create_check_directory(settings, inputs, run_dir))

    @property
    def title(self) -> str:
        return " ".join(map(str, (self.code, *self.tests)))

    def take_stamp(self) -> Stamp:
        """Return the names, times and sizes of the files, which change with each save."""
        folders = {path if path.is_dir() else path.parent for path in (self.code, *self.tests)}
        return _stamp_of(path for folder in folders for path in folder.glob("*.py"))

    async def check(
        self, settings: Settings, open_box: OpenSandbox, emit: EventSink
    ) -> CheckResult:
        """Check the files as they are now. Raises InputError if they cannot be checked."""
        inputs = read_module(self.code, self.tests, settings)
        return await check_files(inputs, self.code, self.directory, settings, open_box, emit)


@dataclass(frozen=True)
class WatchedProject:
    """The lines of a project that have changed since a commit."""

    root: Path
    ref: str
    directory: RunDirectory

    @classmethod
    def create(
        cls, root: Path, ref: str, settings: Settings, run_dir: Path | None
    ) -> "WatchedProject":
        """Create the run directory. Raises InputError if there is no such commit."""
        return cls(root, ref, create_diff_directory(settings, read_diff(root, ref), run_dir))

    @property
    def title(self) -> str:
        return f"{self.root.resolve().name} since {self.ref}"

    def take_stamp(self) -> Stamp:
        """Return the names, times and sizes of the files, which change with each save."""
        return _stamp_of(_find_python_files(self.root))

    async def check(
        self, settings: Settings, open_box: OpenSandbox, emit: EventSink
    ) -> CheckResult:
        """Check the project as it is now. Raises InputError if it cannot be checked."""
        diff = read_diff(self.root, self.ref)
        return await check_diff(diff, self.directory, settings, open_box, emit)


def _find_python_files(root: Path) -> Iterator[Path]:
    """Yield the Python files below a folder; after `_MAX_FILES` no further folder is read."""
    pending, count = [root], 0
    while pending and count < _MAX_FILES:
        folder = pending.pop()
        try:
            paths = list(folder.iterdir())
        except OSError:  # it was removed, or cannot be read
            continue
        for path in paths:
            if path.is_dir() and not path.is_symlink():
                if path.name not in _IGNORED_FOLDERS and not path.name.startswith("."):
                    pending.append(path)
            elif path.suffix == ".py":
                count += 1
                yield path


def _stamp_of(paths: Iterator[Path]) -> Stamp:
    found = set()
    for path in paths:
        try:
            status = path.stat()
        except OSError:  # an editor is replacing the file
            continue
        found.add((str(path), status.st_mtime_ns, status.st_size))
    return frozenset(found)
