"""Blocking work beside the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading

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

    def test_cancelled_wait_does_not_wait_for_the_work(self) -> None:
        begun, release, done = threading.Event(), threading.Event(), threading.Event()

        def work() -> None:
            begun.set()
            release.wait(5)
            done.set()

        async def run() -> None:
            task = asyncio.create_task(run_in_thread(work))
            await asyncio.to_thread(begun.wait, 5)
            task.cancel()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(run())
        assert not done.is_set()
        release.set()  # the loop is closed by now: delivering the result must not raise
        assert done.wait(5)

    def test_cancelled_work_that_has_to_be_completed_is_awaited(self) -> None:
        begun, release, done = threading.Event(), threading.Event(), threading.Event()

        def work() -> None:
            begun.set()
            release.wait(5)
            done.set()

        async def run() -> None:
            task = asyncio.create_task(complete_in_thread(work))
            await asyncio.to_thread(begun.wait, 5)
            task.cancel()
            release.set()
            await task

        with pytest.raises(asyncio.CancelledError):
            asyncio.run(run())
        assert done.is_set()
