"""Run directories: request, response log, report, and best code of a run."""

import contextlib
import fcntl
import os
import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from greenloop.errors import InputError, OutputError
from greenloop.files import writing
from greenloop.records import Report
from greenloop.scripts.source_file import replace_atomically
from greenloop.workflow.storage.request import RunRequest


class RunDirectory:
    """Files of one run: `run.json`, `answers.jsonl`, `report.json` and `.html`, `best/`."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.request_file = self.path / "run.json"
        self.answers_file = self.path / "answers.jsonl"
        self.report_file = self.path / "report.json"
        self.html_file = self.path / "report.html"
        self.choices_file = self.path / "choices.md"
        self.best_dir = self.path / "best"
        self._lock_file = self.path / "lock"
        self._found: frozenset[Path] = frozenset()  # was there before the run

    @classmethod
    def create(cls, home: Path, specification: str, path: Path | None = None) -> "RunDirectory":
        """Create a run directory: `path`, or a new one below `home`.

        Raises:
            InputError: `path` holds a run already.
            OutputError: it cannot be created.
        """
        words = re.findall(r"[a-z0-9]+", specification.lower())[:5]
        id = "-".join([time.strftime("%Y%m%d-%H%M%S"), *words])[:72] + f"-{secrets.token_hex(3)}"
        run = cls(path or home / "runs" / id)
        if run.request_file.exists():
            raise InputError(
                f"{run.path} contains a run already: continue it with `greenloop resume {run.path}`, "
                "or name another --run-dir"
            )
        made = (run.request_file, run.answers_file, run._lock_file, run.best_dir, run.path)
        run._found = frozenset(filter(os.path.lexists, made))
        try:
            run.best_dir.mkdir(parents=True, exist_ok=True)
            ignore_file = home / ".gitignore"
            if home.absolute() in run.path.parents and not ignore_file.exists():
                ignore_file.write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise OutputError(
                f"the run directory {run.path} cannot be created: {error.strerror or error}; "
                "choose another with --run-dir or GREENLOOP_HOME"
            ) from None
        return run

    @classmethod
    def open(cls, path: Path) -> "RunDirectory":
        """Open an existing run directory. Raises InputError: there is no run in it."""
        run = cls(path)
        if not run.request_file.is_file():
            raise InputError(f"{path} is not a run directory: it has no run.json")
        return run

    def is_own_file(self, path: Path) -> bool:
        """Return whether a run is here whose request, answers or report are in a file."""
        own = (self.request_file, self.answers_file, self.report_file)
        return self.request_file.exists() and path.absolute() in own

    def save_request(self, request: RunRequest) -> None:
        write_atomically(self.request_file, request.model_dump_json(indent=1) + "\n")

    def remove_unused(self) -> None:
        """Remove what a run made that could not begin; what was there before stays."""
        for path in {self.request_file, self._lock_file, self.answers_file} - self._found:
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            for folder in (self.best_dir, self.path):
                if folder not in self._found:
                    folder.rmdir()

    def save_report(self, report: Report) -> None:
        """Write the report as JSON and as HTML. Raises OutputError."""
        from greenloop.reporting.html.page import render_report_html

        write_atomically(self.report_file, report.model_dump_json(indent=1) + "\n")
        write_atomically(self.html_file, render_report_html(report))

    def save_best(self, files: dict[str, str]) -> None:
        """Write files of the best candidate: texts by name. Raises OutputError."""
        for name, text in files.items():
            write_atomically(self.best_dir / name, text)

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the run against other processes.

        Raises InputError: another process holds the lock, or none can be made.
        """
        with contextlib.ExitStack() as stack:
            try:
                handle = os.open(self._lock_file, os.O_RDWR | os.O_CREAT, 0o600)
                stack.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError(
                    f"another process is working on the run in {self.path}: wait until it ends"
                ) from None
            except OSError as error:
                raise InputError(
                    f"the run in {self.path} cannot be locked: {error.strerror}"
                ) from None
            yield


def write_atomically(path: Path, text: str) -> None:
    """Write a file completely or not at all, keeping the permissions of an existing one.

    The file behind a symbolic link is written, and the link stays.
    Raises OutputError: it cannot be written.
    """
    mask = os.umask(0)
    os.umask(mask)
    with writing(path):
        path = Path(os.path.realpath(path))
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_atomically(path, text.encode("utf-8", "surrogatepass"), 0o666 & ~mask)
