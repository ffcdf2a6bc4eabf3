"""No sandbox (`--sandbox none`): a process of its own, a clean environment, limits. No wall.

It keeps this machine's environment variables (so its keys) out of the code, bounds time, memory
and output, and takes no verdict from an exit status. It does not keep files or the network out of
reach: `info` says so, and so does the screen. What else a wall would give and this does not:

- `/proc/<parent>/environ` is a file within reach, and holds what this process was started with.
- Processes that leave the group (`setsid`) are found by their environment and ended after the run;
  one that cleans its environment too stays alive. The number of processes is not limited.
- Memory is limited for each process, disk for each file, not for all of them together.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from greenloop.errors import SandboxError
from greenloop.records import SandboxInfo
from greenloop.sandbox import guest
from greenloop.sandbox.backends.cleanup import end_strays, remove, temporary_folder
from greenloop.sandbox.backends.subprocess_runner import Bounds, run_bounded
from greenloop.sandbox.base import TestingSandbox, environment
from greenloop.sandbox.guest.files.collector import collect
from greenloop.sandbox.guest.files.writer import lay_out_tree, stdin_file
from greenloop.sandbox.guest.pytest_plugin.config import ini_file
from greenloop.sandbox.job import Work
from greenloop.sandbox.limits import Limits
from greenloop.sandbox.process_result import Ended

__all__ = ["Limits", "ProcessSandbox"]

_INFO = SandboxInfo(
    backend="none",
    isolation=(
        "NONE: this machine's files, network and processes are within reach of the code; only the "
        "environment is clean, and time, output and the memory of each process are limited"
    ),
)


class ProcessSandbox(TestingSandbox):
    """See the module's text. Safe to use from several threads."""

    @property
    def info(self) -> SandboxInfo:
        return _INFO

    def _execute(self, work: Work, stop: threading.Event) -> Ended:
        with self._room() as room:
            for name, text in work.files:
                (room.work / name).write_bytes(text.encode("utf-8", "surrogatepass"))
            self._lay_out(room, work)
            ended = self._run(room, work, stop)
            if work.wanted is None:
                return ended
            left = ended.left.with_made(collect(str(room.work), work.wanted))
            return replace(ended, left=left)

    def _lay_out(self, room: Room, work: Work) -> None:
        """Raises SandboxError where this machine has no room for it."""
        files = {str(room.work / path): content for path, content in work.tree}
        is_script = work.kind == "script"
        if is_script:
            files[stdin_file(str(room.temporary))] = work.stdin
        try:
            lay_out_tree(files, read_only=is_script)
        except OSError as error:
            raise SandboxError(f"the run's files cannot be written: {error}") from None

    @contextlib.contextmanager
    def _room(self) -> Iterator[Room]:
        root = temporary_folder()
        try:
            yield Room.make(root)
        finally:
            end_strays(f"HOME={root}/home")
            remove(root)

    def _run(self, room: Room, work: Work, stop: threading.Event) -> Ended:
        folder = Path(guest.__file__).parent
        place = {"work": str(room.work), "key": work.key, "ini": ini_file()}
        limits = self.within(work)
        content = {**work.job, **place, "kind": work.kind, "limits": limits.inside()}
        room.job.write_text(json.dumps(content), encoding="utf-8")
        command = [
            *self._python(room),
            str(folder / "bootstrap.py"),
            str(room.job),
            "{fd}",
            "{where}",
        ]
        bounds = Bounds(limits.timeout_s, limits.output_bytes, limits.kept_bytes)
        place_of = (str(room.home), str(room.temporary))
        variables = environment(*place_of, work.hash_seed, work.packages)
        try:
            return run_bounded(
                command,
                folder=room.work,
                environment={**variables, **self._packages(work)},
                bounds=bounds,
                stop=stop,
                errors_apart=work.kind == "script",
            )
        except OSError as error:
            raise SandboxError(f"the test process cannot be started: {error}") from None

    def _python(self, room: Room) -> list[str]:
        """How Python is started for a run."""
        return [sys.executable, "-s", "-B"]

    def _packages(self, work: Work) -> dict[str, str]:
        """Variables that say where packages are which this Python does not know of."""
        return {"PYTHONPATH": work.packages.folder} if work.packages else {}


@dataclass(frozen=True)
class Room:
    """One run's temporary folder: the working folder, a home, a place for temporary files."""

    root: Path
    work: Path
    home: Path
    temporary: Path
    job: Path

    @classmethod
    def make(cls, root: Path) -> Room:
        room = cls(root, *(root / name for name in ("work", "home", "tmp", "job.json")))
        for folder in (room.work, room.home, room.temporary):
            folder.mkdir()
        return room
