"""Running the agent from a terminal: signals, and errors to exit statuses."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Any

from greenloop.errors import GreenloopError
from greenloop.records import Report


def run_with_signals(coroutine: Coroutine[Any, Any, Report]) -> Report:
    """Runs it; the first SIGINT or SIGTERM ends it in order, a second one at once."""

    async def guarded() -> Report:
        task = asyncio.ensure_future(coroutine)
        stopped: list[int] = []

        def stop() -> None:
            if stopped:
                os._exit(130)
            stopped.append(1)
            task.cancel()

        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop)
        return await task

    return asyncio.run(guarded())


def print_error(message: str) -> None:
    """One error, for a person."""
    print(f"greenloop: {message}", file=sys.stderr, flush=True)


def write_stdout(text: str) -> None:
    """On standard output, which may be full; who has closed it raises BrokenPipeError."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as problem:
        print_error(f"standard output cannot be written: {problem.strerror}")


def report_early_end(broken_off: GreenloopError | None, stopped: bool) -> int | None:
    """The exit status of many runs that did not all come to an end, told in one line.

    None where they did.
    """
    if broken_off is not None:
        print_error(f"{broken_off}; the same command goes on where this one ended")
        return broken_off.exit_status
    if stopped:
        print_error("stopped; the same command goes on where this one ended")
        return 130
    return None
