"""Runs in a bucket: fsspec's memory and files stand for it. No Ray is needed."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from greenloop.batch.results import BatchResults, merge_results
from greenloop.distributed.object_store import ObjectStore
from greenloop.distributed.run_sync import RunSynchronizer, limit_after_upload
from greenloop.distributed.worker import Worker, WorkerConfig
from greenloop.errors import InputError, StoreError
from greenloop.events import CallFinished
from greenloop.llm.rate_limits import LLMCall
from greenloop.records.batch import BatchOutcome
from greenloop.settings import Settings
from greenloop.versions import greenloop_version
from tests.integration.cli.conftest import Run

fsspec = pytest.importorskip(
    "fsspec", reason="fsspec is not installed: pip install 'greenloop[ray]'"
)


@pytest.fixture(params=["memory", "file"])
def bucket(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ObjectStore]:
    place = "memory://batches/one" if request.param == "memory" else f"file://{tmp_path}/far away"
    yield ObjectStore(place)
    fsspec.filesystem("memory").store.clear()


def a_run(folder: Path) -> Path:
    (folder / "best").mkdir(parents=True)
    (folder / "answers.jsonl").write_text("one\n")
    (folder / "best" / "top.py").write_text("top = 1\n")
    (folder / "lock").write_text("")
    (folder / ".report.json.x7").write_text("half")
    return folder


def names(folder: Path) -> list[str]:
    return sorted(item.relative_to(folder).as_posix() for item in folder.rglob("*"))


def test_what_is_put_is_fetched_again(bucket: ObjectStore) -> None:
    bucket.put("runs/a", a_run(Path("here")))
    bucket.fetch("runs/a", Path("there"))
    assert names(Path("there")) == ["answers.jsonl", "best", "best/top.py"]
    assert Path("there/best/top.py").read_text() == "top = 1\n"


def test_what_is_not_there_is_nothing(bucket: ObjectStore) -> None:
    bucket.fetch("runs/none", Path("there"))
    assert not Path("there").exists()
    assert bucket.read("results.jsonl") is None


class Seen:
    """Limits that look what is in the bucket as a call goes out."""

    def __init__(self, bucket: ObjectStore) -> None:
        self.bucket, self.log = bucket, b""

    @asynccontextmanager
    async def __call__(self, call: LLMCall) -> AsyncIterator[None]:
        self.log = self.bucket.read("runs/a/answers.jsonl") or b""
        yield


def test_no_call_goes_out_before_the_last_answer_is_kept(bucket: ObjectStore) -> None:
    async def body() -> None:
        here, seen = a_run(Path("here")), Seen(bucket)
        keeper = RunSynchronizer(bucket, "runs/a", here)
        for count in (1, 2, 3):
            (here / "answers.jsonl").write_text("answer\n" * count)
            keeper(CallFinished("generate_code", 1.0, 100))
            async with limit_after_upload(seen, keeper, LLMCall("generate_code", 1)):
                assert seen.log.count(b"answer") == count
        assert await keeper.finish() is None
        assert not here.exists()
        assert bucket.read("runs/a/best/top.py") == b"top = 1\n"

    asyncio.run(body())


def test_a_bucket_that_takes_nothing_ends_the_run() -> None:
    async def body() -> None:
        keeper = RunSynchronizer(
            ObjectStore("file:///proc/nowhere", 0.0), "runs/a", a_run(Path("here"))
        )
        keeper(CallFinished("generate_code", 1.0, 100))
        with pytest.raises(StoreError, match="file:///proc/nowhere cannot be written"):
            await keeper.wait_for_upload()

    asyncio.run(body())


def test_results_of_another_machine_are_added_to_ones_own() -> None:
    def line(name: str) -> bytes:
        outcome = BatchOutcome(id=name, sha256="0", kind="missed", exit_status=1)
        return outcome.model_dump_json().encode() + b"\n"

    Path("results.jsonl").write_bytes(line("own") + line("both"))
    merge_results(Path(), line("both") + line("far"))
    results = BatchResults(Path("results.jsonl"))
    assert all(results.find_outcome(name, "0") for name in ("own", "both", "far"))
    ids = [json.loads(item)["id"] for item in Path("results.jsonl").read_text().splitlines()]
    assert sorted(ids) == ["both", "far", "own"]


@pytest.mark.parametrize(
    ("mark", "version", "why"),
    [
        ("elsewhere/mark", greenloop_version(), "elsewhere does not exist there"),
        ("mark", "0.0.0", "and 0.0.0 here"),
    ],
)
def test_a_node_that_does_not_fit_says_why(mark: str, version: str, why: str) -> None:
    Path("mark").touch()
    config = WorkerConfig(Settings.load(), None, 1, version, Path(mark))
    error = asyncio.run(Worker().open(config))
    assert isinstance(error, InputError)
    assert why in str(error)


def test_a_bucket_is_for_ray(run: Run) -> None:
    Path("a.md").write_text("Write a function.")
    status, _, err = run("batch", "a.md", "--run-dir", "s3://mine/batch")
    assert (status, "--run-dir s3://mine/batch is for --engine ray" in err) == (2, True)
