"""`check --watch` at a terminal: a check at each save."""

import asyncio
import contextlib
import sys

from greenloop.app.watch import Watched
from greenloop.cli.finish import finish_run
from greenloop.cli.options.checks import CheckOptions
from greenloop.cli.process import print_error, run_with_signals
from greenloop.errors import GreenloopError, InterruptedRunError
from greenloop.reporting.progress.renderer import create_progress
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings

_POLL_SECONDS = 0.2
_CLEAR = "\x1b[2J\x1b[H"  # erase the screen; go to its first line


def watch(target: Watched, options: CheckOptions, settings: Settings) -> int:
    """Check at each save until the user interrupts; return the exit status.

    Raises SandboxError: there is no sandbox.
    """
    with open_sandbox(settings) as box, contextlib.suppress(asyncio.CancelledError):
        run_with_signals(_check_at_each_save(target, options, box))
    return 0


async def _check_at_each_save(target: Watched, options: CheckOptions, box: Sandbox) -> None:
    """Check now and at each save; a save during a check cancels it and starts another."""
    stamp, task = None, None
    try:
        while True:
            if (found := target.take_stamp()) != stamp:
                stamp = found
                await _stop(task)
                task = asyncio.ensure_future(_check(target, options, box))
            await asyncio.sleep(_POLL_SECONDS)
    finally:
        await _stop(task)


async def _stop(task: asyncio.Task[None] | None) -> None:
    if task is not None:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _check(target: Watched, options: CheckOptions, box: Sandbox) -> None:
    """Check once, and print the result; a terminal is cleared first."""

    async def open_box() -> Sandbox:
        return box

    if sys.stdout.isatty() and not options.json:
        print(_CLEAR, end="", flush=True)
    try:
        with create_progress(quiet=options.quiet, verbose=options.verbose) as progress:
            report, error = await target.check(open_box, progress)
    except GreenloopError as problem:
        print_error(str(problem))
    else:
        if isinstance(error, InterruptedRunError):  # by a save, or by the user, who ends the watch
            return
        finish_run(report, error, options)
    print_error(f"watching {target.title}; press Ctrl-C to stop")
