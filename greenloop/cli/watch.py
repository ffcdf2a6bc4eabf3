"""`check --watch` at a terminal: a check at each save, and keys."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Coroutine, Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

from rich.live import Live

from greenloop.app.watch import ProposedTest, WatchedModule, WatchedProject, propose_test
from greenloop.cli.finish import open_page
from greenloop.cli.process import run_with_signals
from greenloop.errors import GreenloopError
from greenloop.events import Event, TestRunFinished
from greenloop.reporting.summary import open_console
from greenloop.reporting.watch import WatchScreen
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.workflow.storage.run_dir import write_atomically

_TICK_SECONDS = 0.05
_TICKS_A_REFRESH = 4
_ARROWS = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1bOA": "up",
    "\x1bOB": "down",
    "k": "up",
    "j": "down",
}


def watch(target: WatchedModule | WatchedProject, settings: Settings) -> int:
    """Check at each save until the user quits; return the exit status.

    Raises:
        SandboxError: there is no sandbox.
    """
    with open_sandbox(settings) as box, contextlib.suppress(asyncio.CancelledError):
        run_with_signals(_Session(target, settings, box).run())
    return 0


class _Session:
    """The checks of one target in one sandbox, which stays open."""

    def __init__(
        self, target: WatchedModule | WatchedProject, settings: Settings, box: Sandbox
    ) -> None:
        self._target, self._settings, self._box = target, settings, box
        self._screen = WatchScreen(target.title)
        self._task: asyncio.Task[None] | None = None
        self._proposal: ProposedTest | None = None
        self._is_outdated = asyncio.Event()  # the screen: a result has come

    async def run(self) -> None:
        """Show the screen, and check at each save, until the user quits."""
        console, stamp, ticks = open_console(sys.stderr), None, 0
        with _read_keys() as keys, Live(console=console, screen=True, auto_refresh=False) as live:
            try:
                while True:
                    if (found := self._target.take_stamp()) != stamp:
                        stamp = found
                        await self._start(self._check(self._settings))
                    for key in keys():
                        if key == "q":
                            return
                        await self._handle_key(key)
                        self._is_outdated.set()
                    if self._is_outdated.is_set() or ticks % _TICKS_A_REFRESH == 0:
                        self._is_outdated.clear()
                        live.update(
                            self._screen.render(console.width, console.height), refresh=True
                        )
                    ticks += 1
                    with contextlib.suppress(asyncio.TimeoutError):
                        await asyncio.wait_for(self._is_outdated.wait(), _TICK_SECONDS)
            finally:
                await self._stop()

    async def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin a check or a request in place of what is running."""
        await self._stop()
        self._task = asyncio.ensure_future(work)

    async def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _check(self, settings: Settings) -> None:
        async def open_box() -> Sandbox:
            return self._box

        screen, loop = self._screen, asyncio.get_running_loop()

        def handle_event(event: Event) -> None:
            screen.handle_event(event)
            if isinstance(event, TestRunFinished):
                loop.call_soon_threadsafe(self._is_outdated.set)

        screen.start_check()
        try:
            report, error = await self._target.check(settings, open_box, handle_event)
            screen.end_check(report)
        except GreenloopError as problem:
            error = None
            screen.fail_check(str(problem))
        screen.is_checking = False
        if error is not None:
            screen.message = str(error)
        self._is_outdated.set()

    async def _handle_key(self, key: str) -> None:
        screen = self._screen
        if self._proposal is not None:
            self._answer(key)
        elif key in _ARROWS:
            screen.move(1 if _ARROWS[key] == "down" else -1)
        elif key == "a":
            await self._start(self._check(self._settings.model_copy(update={"mutants": "all"})))
        elif key == "s":
            screen.shows_survivor = not screen.shows_survivor
        elif key == "o":
            page = Path(self._target.directory.html_file)
            screen.message = "" if open_page(page) else f"report: {page}"
        elif key == "h":
            await self._start(self._request_test())

    async def _request_test(self) -> None:
        """Have a test written against the survivor under the cursor, and ask whether to keep it."""
        screen, survivor = self._screen, self._screen.survivor
        if survivor is None or not isinstance(self._target, WatchedModule):
            screen.message = "h needs a surviving mutant of a single module"
            return
        screen.message = "asking the model for a test …"
        try:
            found = await propose_test(
                self._target, survivor, self._settings, self._box, screen.handle_event
            )
        except GreenloopError as problem:
            screen.message = str(problem)
            return
        screen.message = found.result
        if found.text:
            name = str(found.path)
            lines = unified_diff(
                found.before.splitlines(), found.text.splitlines(), name, name, lineterm=""
            )
            screen.diff = tuple(lines)
            screen.question = f"{found.result}; write it to {name}? [y/N]"
            self._proposal = found

    def _answer(self, key: str) -> None:
        """Write the test on yes alone; the save starts the next check."""
        proposal, self._proposal = self._proposal, None
        screen = self._screen
        screen.question, screen.diff = "", ()
        if proposal is None or key not in ("y", "Y"):
            screen.message = "declined: nothing was written"
            return
        try:
            write_atomically(proposal.path, proposal.text)
        except GreenloopError as problem:
            screen.message = str(problem)


@contextlib.contextmanager
def _read_keys() -> Iterator[Callable[[], list[str]]]:
    """Yield a function that returns the keys pressed since its last call."""
    handle = sys.stdin.fileno()
    before = termios.tcgetattr(handle)

    def read() -> list[str]:
        pressed = ""
        while select.select([handle], [], [], 0)[0] and (data := os.read(handle, 64)):
            pressed += data.decode("utf-8", "ignore")
        return [pressed] if pressed in _ARROWS else list(pressed)

    tty.setcbreak(handle)
    try:
        yield read
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)
