"""Executors of batches by name: built in, registered by a package, or unknown."""

from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest

from greenloop import plugins
from greenloop.batch.executor import LocalExecutor
from greenloop.cli.executors import create_executor
from greenloop.errors import InputError


def create_recording_executor(address: str | None, folder: Path) -> Any:
    """An executor of a package, as far as this test needs one."""
    return address, folder


@pytest.fixture
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("slurm", f"{__name__}:create_recording_executor", "greenloop.executors")
    monkeypatch.setattr(EntryPoint, "load", lambda _entry: create_recording_executor)
    registered = EntryPoints([entry])
    monkeypatch.setattr(plugins, "entry_points", lambda group: registered.select(group=group))


@pytest.mark.usefixtures("_registered")
def test_a_package_adds_an_executor(tmp_path: Path) -> None:
    assert create_executor("slurm", "head:1", tmp_path) == ("head:1", tmp_path)
    assert isinstance(create_executor("local", None, tmp_path), LocalExecutor)


@pytest.mark.usefixtures("_registered")
def test_an_unknown_executor_is_an_error_that_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--engine foo: .*local, ray, slurm$"):
        create_executor("foo", None, tmp_path)


def test_an_address_needs_a_distributed_executor(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--address needs --engine ray"):
        create_executor("local", "head:1", tmp_path)
