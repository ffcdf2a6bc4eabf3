"""A bucket that goes away in the middle, and comes back: a link, to a folder or to a file."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from greenloop.batch.results import append_line
from greenloop.engines.bucket import Bucket
from greenloop.engines.keeping import Keeper
from greenloop.engines.left import send_left
from greenloop.engines.mirroring import Mirror
from greenloop.engines.worker import Errand, Worker
from greenloop.errors import InputError, StoreError
from greenloop.events import Event
from greenloop.settings import Settings
from greenloop.way.reporting import own_version

pytest.importorskip("fsspec", reason="fsspec is not installed: pip install 'greenloop[ray]'")


@pytest.fixture
def bucket(tmp_path: Path) -> Bucket:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    found = Bucket(f"file://{tmp_path}/bucket")
    switch(found, "folder")
    return found


def switch(bucket: Bucket, to: str) -> None:
    """At once, whoever is writing there."""
    place = Path(bucket.url.removeprefix("file://"))
    place.with_name("new").symlink_to(to)
    place.with_name("new").rename(place)


@contextmanager
def away(bucket: Bucket) -> Iterator[None]:
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


def answers_in(bucket: Bucket) -> int:
    return (bucket.read("runs/a/answers.jsonl") or b"").count(b"answer")


def left_on_the_command(bucket: Bucket, answers: int) -> Path:
    """The batch's folder on its machine, after a run whose bucket was away at the end."""

    async def body() -> None:
        keeper = Keeper(bucket, "runs/a", a_run(Path("worker/runs/a"), answers), 0.0)
        with away(bucket):
            missing = await keeper.all_kept()
        assert missing is not None
        assert "cannot be written" in str(missing.error)
        assert not keeper.here.exists()
        missing.left.keep(Path("command/runs/a"))

    asyncio.run(body())
    return Path("command")


def test_what_a_bucket_did_not_take_is_put_there_once_it_is_back(bucket: Bucket) -> None:
    bucket.put("runs/a", a_run(Path("before"), 1))
    folder = left_on_the_command(bucket, 2)
    with away(bucket), pytest.raises(StoreError):
        send_left(bucket, folder)
    assert answers_in(bucket) == 1
    send_left(bucket, folder)
    assert answers_in(bucket) == 2
    bucket.put("runs/a", a_run(Path("elsewhere"), 3))
    send_left(bucket, folder)
    assert answers_in(bucket) == 3  # it was sent once


def test_a_run_that_went_on_elsewhere_is_not_taken_back(bucket: Bucket) -> None:
    folder = left_on_the_command(bucket, 2)
    bucket.put("runs/a", a_run(Path("elsewhere"), 3))
    send_left(bucket, folder)
    assert answers_in(bucket) == 3


def a_mirror(bucket: Bucket, said: list[Event]) -> Mirror:
    Path("batch").mkdir()
    append_line(Path("batch/results.jsonl"), "one")
    return Mirror(bucket, Path("batch"), said.append, every_s=0.01, patience_s=0.0)


async def until_it_has(bucket: Bucket, data: bytes) -> None:
    while bucket.read("results.jsonl") != data:
        await asyncio.sleep(0.01)


def test_results_come_into_the_bucket_while_the_batch_goes_on(bucket: Bucket) -> None:
    async def body() -> None:
        said: list[Event] = []
        async with a_mirror(bucket, said).following():
            await asyncio.wait_for(until_it_has(bucket, b"one\n"), 60)
            with away(bucket):
                append_line(Path("batch/results.jsonl"), "two")
                while not said:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.1)
            await asyncio.wait_for(until_it_has(bucket, b"one\ntwo\n"), 60)
            append_line(Path("batch/results.jsonl"), "three")
        assert bucket.read("results.jsonl") == b"one\ntwo\nthree\n"
        assert [str(item).count("it is tried again") for item in said] == [1]

    asyncio.run(body())


def test_results_that_the_bucket_does_not_have_in_the_end_are_an_error(bucket: Bucket) -> None:
    async def body(said: list[Event]) -> None:
        async with a_mirror(bucket, said).following():
            switch(bucket, "file")

    with pytest.raises(StoreError, match="cannot be written"):
        asyncio.run(body([]))


def test_what_went_wrong_otherwise_is_told_first(bucket: Bucket) -> None:
    said: list[Event] = []

    async def body() -> None:
        async with a_mirror(bucket, said).following():
            switch(bucket, "file")
            raise InputError("no cluster")

    with pytest.raises(InputError, match="no cluster"):
        asyncio.run(body())
    assert "the same command puts the results there" in str(said)


def test_a_node_with_another_bucket_of_that_name_says_so(bucket: Bucket) -> None:
    errand = Errand(Settings.load(), None, 1, own_version(), bucket=bucket)
    error = asyncio.run(Worker().open(errand))
    assert isinstance(error, InputError)
    assert "is another one there" in str(error)
