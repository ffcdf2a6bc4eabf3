"""The loop of what is held to something fixed: run, and while it is red, improve."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from greenloop.events import Emit, Notice
from greenloop.way.craft import Craft
from greenloop.way.improving import Improver
from greenloop.way.state import RunState
from greenloop.way.trying import try_out


async def mend(is_green: Callable[[], Awaitable[bool]], improver: Improver) -> None:
    """Ends when it is green, or when nothing is left to try. Raises GreenloopError."""
    while not await is_green():
        if not await improver.improve():
            return


def tell_of_health(state: RunState, emit: Emit) -> None:
    """Says so, where what was to be healed was green as it was."""
    if state.green is not None and len(state.history.attempts) == 1:
        emit(Notice("nothing to heal: it is healthy as it is, and no model was asked"))


async def ran_green(craft: Craft, state: RunState, emit: Emit) -> bool:
    """Runs the candidate; and the best again, where what it failed was dropped since."""
    run = await try_out(craft, state, emit)
    if not run.passed and state.history.best_deserves_a_run():
        run = await try_out(craft, state, emit)
    state.green = run if run.passed else None
    return run.passed
