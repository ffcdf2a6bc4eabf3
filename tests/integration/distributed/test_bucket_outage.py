"""A bucket that goes away in the middle, and comes back: a link, to a folder or to a file."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.batch.results import append_line
from greenloop.distributed.object_store import ObjectStore, upload_pending
from greenloop.distributed.ray_executor import RayRunExecutor
from greenloop.distributed.run_sync import ResultsSynchronizer, RunSynchronizer
from greenloop.distributed.worker import RemoteRunResult, Worker, WorkerConfig
from greenloop.distributed.worker_pool import Node, WorkerSlot
from greenloop.errors import InputError, StoreError
from greenloop.events import Event
from greenloop.settings import Settings
from greenloop.versions import greenloop_version
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.storage.run_dir import RunDirectory

pytest.importorskip("fsspec", reason="fsspec is not installed: pip install 'greenloop[ray]'")


@pytest.fixture
def bucket(tmp_path: Path) -> ObjectStore:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    found = ObjectStore(f"file://{tmp_path}/bucket", retry_seconds=0.0)
    switch(found, "folder")
    return found


def switch(bucket: ObjectStore, to: str) -> None:
    """Remove the object store at once, while a process writes to it."""
    place = Path(bucket.url.removeprefix("file://"))
    place.with_name("new").symlink_to(to)
    place.with_name("new").rename(place)


@contextmanager
def away(bucket: ObjectStore) -> Iterator[None]:
    switch(bucket, "file")
    try:
        yield
    finally:
        switch(bucket, "folder")


def a_run(folder: Path, answers: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text("{}")
    (folder / "answers.jsonl").write_text("answer\n" * answers)
    return folder


def answers_in(bucket: ObjectStore) -> int:
    return (bucket.read("runs/a/answers.jsonl") or b"").count(b"answer")


def run_without_bucket(bucket: ObjectStore, answers: int) -> Path:
    """The batch's folder on its machine, after a run whose bucket was away at the end."""

    async def body() -> None:
        keeper = RunSynchronizer(bucket, "runs/a", a_run(Path("worker/runs/a"), answers))
        with away(bucket):
            missing = await keeper.finish()
        assert missing is not None
        assert "cannot be written" in str(missing[0])
        assert not keeper.folder.exists()
        missing[1].write_to(Path("command/runs/a"))

    asyncio.run(body())
    return Path("command")


def test_what_a_bucket_did_not_take_is_put_there_once_it_is_back(bucket: ObjectStore) -> None:
    bucket.put("runs/a", a_run(Path("before"), 1))
    folder = run_without_bucket(bucket, 2)
    with away(bucket), pytest.raises(StoreError):
        upload_pending(bucket, folder)
    assert answers_in(bucket) == 1
    upload_pending(bucket, folder)
    assert answers_in(bucket) == 2
    bucket.put("runs/a", a_run(Path("elsewhere"), 3))
    upload_pending(bucket, folder)
    assert answers_in(bucket) == 3  # it was sent once


class Answered(Worker):
    """A node that asked, and was answered twice, before the bucket went away."""

    async def _run_locally(
        self, _name: str, _request: Any, directory: Any, _keeper: Any = None
    ) -> RemoteRunResult:
        a_run(directory.path, 2)
        assert self._config is not None
        assert self._config.object_store is not None
        switch(self._config.object_store, "file")
        return RemoteRunResult()


async def nothing(*_: Any, **__: Any) -> None:
    return


def remote(work: Any) -> Any:
    return SimpleNamespace(remote=work)


def runs_on(worker: Worker, bucket: ObjectStore) -> RayRunExecutor:
    """Runs of one worker, which is in this process: as much of Ray as they use."""
    budget = SimpleNamespace(
        open_account=remote(nothing),
        flush=remote(nothing),
        close_account=remote(lambda *_, is_lost: None),
    )
    worker._config = WorkerConfig(
        Settings.load(), budget, 1, greenloop_version(), object_store=bucket
    )
    hand = WorkerSlot(Node("here", "here", 1), SimpleNamespace(run=remote(worker.run)))

    async def take() -> WorkerSlot:
        return hand

    async def get_outcome(work: Any) -> Any:
        return await work

    pool: Any = SimpleNamespace(acquire=take, await_budget=get_outcome, release=lambda _hand: None)
    none = SimpleNamespace(RayTaskError=OSError, TaskCancelledError=OSError, RayError=OSError)
    return RayRunExecutor(SimpleNamespace(exceptions=none), pool, budget, bucket)


def test_what_a_run_was_answered_comes_back_to_the_command(bucket: ObjectStore) -> None:
    directory = RunDirectory(Path("command/runs/a"))
    work = runs_on(Answered(), bucket).run(MakeRequest(specification="s", greenloop=""), directory)
    with pytest.raises(StoreError, match=r"the model's answers are in .*command/runs/a"):
        asyncio.run(work)
    switch(bucket, "folder")
    upload_pending(bucket, Path("command"))
    assert answers_in(bucket) == 2


def test_a_run_that_went_on_elsewhere_is_not_taken_back(bucket: ObjectStore) -> None:
    folder = run_without_bucket(bucket, 2)
    bucket.put("runs/a", a_run(Path("elsewhere"), 3))
    upload_pending(bucket, folder)
    assert answers_in(bucket) == 3


def a_mirror(bucket: ObjectStore, said: list[Event]) -> ResultsSynchronizer:
    Path("batch").mkdir()
    append_line(Path("batch/results.jsonl"), "one")
    return ResultsSynchronizer(bucket, Path("batch"), said.append, interval_seconds=0.01)


async def until(true: Callable[[], object]) -> None:
    for _ in range(6000):
        if true():
            return
        await asyncio.sleep(0.01)
    pytest.fail("it did not come to pass")


def test_results_come_into_the_bucket_while_the_batch_goes_on(bucket: ObjectStore) -> None:
    async def body() -> None:
        said: list[Event] = []
        async with a_mirror(bucket, said).sync_in_background():
            await until(lambda: bucket.read("results.jsonl") == b"one\n")
            with away(bucket):
                append_line(Path("batch/results.jsonl"), "two")
                await until(lambda: said)
                await asyncio.sleep(0.1)
            await until(lambda: bucket.read("results.jsonl") == b"one\ntwo\n")
            append_line(Path("batch/results.jsonl"), "three")
        assert bucket.read("results.jsonl") == b"one\ntwo\nthree\n"
        assert [str(item).count("retrying") for item in said] == [1]

    asyncio.run(body())


def test_results_that_the_bucket_does_not_have_in_the_end_are_an_error(bucket: ObjectStore) -> None:
    async def body(said: list[Event]) -> None:
        async with a_mirror(bucket, said).sync_in_background():
            switch(bucket, "file")

    with pytest.raises(StoreError, match=r"cannot be written.*the results are in batch/results"):
        asyncio.run(body([]))


def test_what_went_wrong_otherwise_is_told_first(bucket: ObjectStore) -> None:
    said: list[Event] = []

    async def body() -> None:
        async with a_mirror(bucket, said).sync_in_background():
            switch(bucket, "file")
            raise InputError("no cluster")

    with pytest.raises(InputError, match="no cluster"):
        asyncio.run(body())
    assert "run the same command again to store the results" in str(said)


def test_a_node_with_another_bucket_of_that_name_says_so(bucket: ObjectStore) -> None:
    config = WorkerConfig(Settings.load(), None, 1, greenloop_version(), object_store=bucket)
    error = asyncio.run(Worker().open(config))
    assert isinstance(error, InputError)
    assert "is a different store there" in str(error)
