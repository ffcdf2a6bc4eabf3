"""A cache of packages, and a folder of wheels as the only index."""

from pathlib import Path

import pytest

from greenloop.dependencies import PackageStore
from tests.support.wheels import only_wheels_of


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    only_wheels_of(folder, monkeypatch)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> PackageStore:
    return PackageStore(tmp_path / "cache")


def list_left_over(store: PackageStore) -> list[str]:
    """Return the files of the cache besides complete sets and locks."""
    kept = {item.name for item in store.list_folders()}
    names = (item.name for item in store.root.iterdir() if not item.name.endswith(".lock"))
    return [name for name in names if name not in kept]
