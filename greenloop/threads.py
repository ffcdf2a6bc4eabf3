"""Blocking work in threads of its own, so that the event loop goes on with other runs."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import Any, TypeVar

_MAX_INTERRUPT_S = 1.0
T = TypeVar("T")


def run_in_any_thread(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end, also where this thread runs an event loop (Jupyter)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1, "greenloop-tool") as pool:
        return pool.submit(asyncio.run, coroutine).result()


async def run_in_thread(work: Callable[[], T]) -> T:
    """Run blocking work in a daemon thread with the caller's context; re-raise its exception."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(put: Callable[..., None], value: object) -> None:
        if not future.done():
            put(value)

    def body() -> None:
        put: Callable[..., None] = future.set_result
        try:
            value: object = context.run(work)
        except BaseException as error:  # noqa: BLE001 - passed on to the awaiting task
            # A future does not accept StopIteration.
            value = RuntimeError(repr(error)) if isinstance(error, StopIteration) else error
            put = future.set_exception
        with suppress(RuntimeError):  # the loop was closed while a cancelled call was running
            loop.call_soon_threadsafe(deliver, put, value)

    threading.Thread(target=body, name="greenloop-call", daemon=True).start()
    return await future


async def complete_in_thread(
    work: Callable[[], T], interrupt: Callable[[], AbstractContextManager[None]] | None = None
) -> T:
    """Do as `run_in_thread`; a cancellation is raised when the work has ended.

    Within the block of `interrupt` it ends early, as the runs of a sandbox do. Work that computes
    something itself may not hear of it: a second later the thread is left to end within the block.
    """
    task = asyncio.ensure_future(run_in_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if interrupt is None:
            await asyncio.wait({task})
            task.exception()  # retrieved, so that asyncio does not report it
            raise
        with ExitStack() as stack:
            stack.enter_context(interrupt())
            await asyncio.wait({task}, timeout=_MAX_INTERRUPT_S)
            block = stack.pop_all()

        def end(task: asyncio.Future[T]) -> None:
            block.close()
            task.cancelled() or task.exception()

        task.add_done_callback(end)
        raise
