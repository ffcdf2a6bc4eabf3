"""A bucket on a real S3 server, without Ray; a batch on one is in test_ray.py."""

import asyncio
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenloop.distributed.object_store import ObjectStore, retry_in_thread, upload_pending
from greenloop.distributed.run_sync import RunSynchronizer
from tests.integration.cli.conftest import Run
from tests.support.s3_server import S3Server, why_not

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
]


@pytest.fixture
def s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    (tmp_path / "s3" / "mine").mkdir(parents=True)
    server = S3Server(tmp_path / "s3")
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    forget()
    server.start()
    yield server
    server.stop()


def forget() -> None:
    """What s3fs knows of an earlier server, or of other keys, in this process."""
    importlib.import_module("s3fs").S3FileSystem.clear_instance_cache()


def many(folder: Path, count: int) -> Path:
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"file-{number:04}").write_text(str(number))
    return folder


def test_more_objects_than_one_page_of_a_listing(s3: S3Server) -> None:
    bucket = ObjectStore("s3://mine/batch")
    many(s3.folder / "mine/batch/runs/a", 1100)
    many(s3.folder / "mine/batch/runs/ab", 2)  # another run, whose name begins like the first's
    bucket.fetch("runs/a", Path("here"))
    assert len(list(Path("here").iterdir())) == 1100


def test_one_line_says_what_is_wrong_before_anything_is_paid(s3: S3Server, run: Run) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'greenloop[ray]'")
    Path("a.md").write_text("Write a function.")
    asked = ("batch", "a.md", "--engine", "ray", "--model", "openai:none", "--run-dir")
    denied = "greenloop: {} cannot be {}\n"
    status, _, err = run(*asked, "s3://nobodys/batch")
    why = "written: The specified bucket does not exist"
    assert (status, err) == (2, denied.format("s3://nobodys/batch", why))
    forget()
    status, _, err = run(*asked, "s3://mine/batch", AWS_SECRET_ACCESS_KEY="wrong")
    why = "read: Forbidden (keys come from the environment, or from the files of its package)"
    assert (status, err) == (2, denied.format("s3://mine/batch", why))


def test_a_server_that_is_killed_and_comes_back(s3: S3Server) -> None:
    """What a run has by then is handed over, and put there; one that waits comes through."""

    async def body() -> None:
        bucket = ObjectStore("s3://mine/batch", retry_seconds=0.0)
        keeper = RunSynchronizer(bucket, "runs/a", many(Path("worker/runs/a"), 2))
        s3.stop()
        missing = await keeper.finish()
        assert missing is not None
        missing[1].write_to(Path("command/runs/a"))
        waiting = asyncio.ensure_future(
            retry_in_thread(120.0, upload_pending, bucket, Path("command"))
        )
        await asyncio.sleep(0.1)
        await asyncio.to_thread(s3.start)
        await waiting
        assert bucket.read("runs/a/file-0001") == b"1"

    asyncio.run(body())
