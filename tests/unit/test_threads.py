"""Blocking work beside the event loop."""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Awaitable, Callable, Iterator

import pytest

from greenloop.threads import complete_in_thread, run_in_thread


class TestThread:
    def test_callers_context_is_available(self) -> None:
        name = contextvars.ContextVar("name", default="")

        async def run() -> tuple[str, bool]:
            name.set("mine")
            return await run_in_thread(lambda: (name.get(), threading.current_thread().daemon))

        assert asyncio.run(run()) == ("mine", True)

    @pytest.mark.parametrize(
        ("error", "raised"), [(ValueError("x"), ValueError), (StopIteration(), RuntimeError)]
    )
    def test_exception_of_the_work_is_raised(
        self, error: Exception, raised: type[Exception]
    ) -> None:
        def work() -> None:
            raise error

        async def run() -> None:
            await run_in_thread(work)

        with pytest.raises(raised):
            asyncio.run(run())

    @pytest.mark.parametrize("run", [run_in_thread, complete_in_thread])
    def test_cancelled_wait_is_for_work_that_has_to_be_completed_alone(
        self, run: Callable[[Callable[[], None]], Awaitable[None]]
    ) -> None:
        begun, release, done = threading.Event(), threading.Event(), threading.Event()

        def work() -> None:
            begun.set()
            release.wait(5)
            done.set()

        async def begin(awaitable: Awaitable[None]) -> None:
            await awaitable

        async def cancel() -> None:
            task = asyncio.create_task(begin(run(work)))
            await asyncio.to_thread(begun.wait, 5)
            task.cancel()
            if run is complete_in_thread:
                release.set()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(cancel())
        assert done.is_set() is (run is complete_in_thread)
        release.set()  # the loop is closed by now: delivering the result must not raise
        assert done.wait(5)

    def test_work_that_does_not_hear_of_an_interruption_is_left_to_end_within_it(self) -> None:
        begun, release, ended = threading.Event(), threading.Event(), threading.Event()
        states: list[str] = []

        @contextlib.contextmanager
        def interrupt() -> Iterator[None]:
            states.append("interrupted")
            yield
            states.append("ended")
            ended.set()

        def work() -> None:
            begun.set()
            release.wait(20)

        async def cancel() -> None:
            task = asyncio.create_task(complete_in_thread(work, interrupt))
            await asyncio.to_thread(begun.wait, 5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert states == ["interrupted"]
            release.set()
            await asyncio.to_thread(ended.wait, 5)

        asyncio.run(cancel())
        assert states == ["interrupted", "ended"]

    def test_work_that_computes_is_ended(self) -> None:
        begun, ended = threading.Event(), threading.Event()

        def work() -> None:
            try:
                while True:
                    begun.set()
            finally:
                ended.set()

        async def cancel() -> None:
            task = asyncio.create_task(complete_in_thread(work, contextlib.nullcontext))
            await asyncio.to_thread(begun.wait, 5)
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(cancel())
        assert ended.wait(5)
