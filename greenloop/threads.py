"""Blocking work in daemon threads, so that the event loop stays free for other runs."""

import asyncio
import contextvars
import ctypes
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import Any, TypeVar

_MAX_INTERRUPT_S = 0.5
T = TypeVar("T")


def run_in_any_thread(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end, even if this thread runs an event loop (Jupyter)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1, "greenloop-tool") as pool:
        return pool.submit(asyncio.run, coroutine).result()


async def run_in_thread(
    work: Callable[[], T], on_start: Callable[[int], None] = lambda identifier: None
) -> T:
    """Run blocking work in a daemon thread with the caller's context; re-raise its exception.

    `on_start` gets the identifier of the thread.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(put: Callable[..., None], value: object) -> None:
        if not future.done():
            put(value)

    def body() -> None:
        put: Callable[..., None] = future.set_result
        try:
            on_start(threading.get_ident())
            value: object = context.run(work)
        except BaseException as error:  # noqa: BLE001 - passed on to the awaiting task
            # A future does not accept StopIteration.
            value = RuntimeError(repr(error)) if isinstance(error, StopIteration) else error
            put = future.set_exception
        # The loop is closed already, or CancelledError was injected just after the work ended.
        with suppress(RuntimeError, asyncio.CancelledError):
            loop.call_soon_threadsafe(deliver, put, value)

    threading.Thread(target=body, name="greenloop-call", daemon=True).start()
    return await future


async def complete_in_thread(
    work: Callable[[], T], interrupt: Callable[[], AbstractContextManager[None]] | None = None
) -> T:
    """Run work as `run_in_thread` does; raise a cancellation only when the work has ended.

    A cancellation enters the context `interrupt`, which ends sandbox runs. Work that goes on after
    `_MAX_INTERRUPT_S` gets CancelledError. After as long again the cancellation is raised anyway,
    and the context is left when the work ends.
    """
    threads: list[int] = []
    task = asyncio.ensure_future(run_in_thread(work, threads.append))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if interrupt is None:
            await asyncio.wait({task})
            task.exception()  # retrieved, so that asyncio does not report it
            raise
        with ExitStack() as stack:
            stack.enter_context(interrupt())
            if not (await asyncio.wait({task}, timeout=_MAX_INTERRUPT_S))[0]:
                _raise_in_thread(threads)
                await asyncio.wait({task}, timeout=_MAX_INTERRUPT_S)
            block = stack.pop_all()

        def end(task: asyncio.Future[T]) -> None:
            block.close()
            task.cancelled() or task.exception()

        task.add_done_callback(end)
        raise


def _raise_in_thread(threads: Sequence[int]) -> None:
    """Raise CancelledError in threads; one in C code gets it on its return to Python code."""
    for identifier in threads:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(identifier), ctypes.py_object(asyncio.CancelledError)
        )
