"""Sets of the cache that are damaged, replaced, or installed by several processes at once."""

import os
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from greenloop.dependencies import InstalledPackages, PackageStore
from greenloop.errors import PackagesError
from tests.integration.dependencies.conftest import list_left_over
from tests.support.wheels import wheel

INSTALL = (
    "import sys, pathlib; from greenloop.dependencies import PackageStore\n"
    "PackageStore(pathlib.Path(sys.argv[1])).install(['alpha'])"
)


@pytest.mark.slow
def test_other_requirements_give_another_set(wheels: Path, store: PackageStore) -> None:
    for version in ("1.0", "2.0"):
        wheel(wheels, "alpha", {"alpha.py": ""}, version)
    assert store.install(["alpha"]).version("alpha") == "2.0"
    assert store.install(["alpha==1.*"]).version("alpha") == "1.0"
    assert len(store.list_folders()) == 2
    assert not store.install([])


@pytest.mark.slow
def test_set_without_a_manifest_is_installed_again(wheels: Path, store: PackageStore) -> None:
    wheel(wheels, "alpha", {"alpha.py": "RIGHT = 1\n"})
    site = Path(store.install(["alpha"]).folder)
    (site / "json.py").touch()
    (site.parents[2] / "manifest.json").write_text("{")
    assert store.find(["alpha"]) is None
    again = store.install(["alpha"])
    assert sorted(path.name for path in Path(again.folder).glob("*.py")) == ["alpha.py"]
    assert store.find(["alpha"]) == again
    assert list_left_over(store) == []


@pytest.mark.slow
def test_full_disk_leaves_nothing_incomplete(wheels: Path, store: PackageStore) -> None:
    """Limit the size of files, which to pip is a full disk."""
    wheel(wheels, "alpha", {"alpha.py": "x = 1\n" * 200_000})
    ended = subprocess.run(
        [sys.executable, "-c", INSTALL, str(store.root)],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)),
    )
    assert "PackagesError: alpha cannot be installed" in ended.stderr
    assert "File too large" in ended.stderr
    assert (store.list_folders(), list_left_over(store)) == ([], [])
    assert store.install(["alpha"]).version("alpha") == "1.0"


def test_unwritable_cache_is_named(wheels: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PackagesError, match=r"XDG_CACHE_HOME"):
        PackageStore(tmp_path / "file" / "cache").install(["alpha"])


@pytest.fixture
def silent_index() -> Iterator[dict[str, str]]:
    """Configure pip with an index that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        yield {
            "PIP_CONFIG_FILE": "/dev/null",
            "PIP_INDEX_URL": f"http://127.0.0.1:{port}/simple",
            "PIP_EXTRA_INDEX_URL": "",
            "PIP_FIND_LINKS": "",
            "PIP_NO_INDEX": "0",
        }


def eventually(what: Callable[[], bool]) -> bool:
    until = time.monotonic() + 60
    while not (done := what()) and time.monotonic() < until:
        time.sleep(0.02)
    return done


def rooms(store: PackageStore) -> list[Path]:
    return list(store.root.glob(".alpha*/pip.log")) if store.root.exists() else []


@pytest.mark.slow
def test_interrupted_installation_leaves_nothing(
    store: PackageStore, silent_index: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in silent_index.items():
        monkeypatch.setenv(name, value)
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(store.install, ["alpha"], stop)
        assert eventually(lambda: bool(rooms(store)))
        stop.set()
        with pytest.raises(PackagesError, match="interrupted"):
            done.result(60)
    assert (store.list_folders(), list_left_over(store)) == ([], [])


@pytest.mark.slow
def test_leftovers_of_a_killed_process_are_removed(
    wheels: Path, store: PackageStore, silent_index: dict[str, str]
) -> None:
    command = [sys.executable, "-c", INSTALL, str(store.root)]
    process = subprocess.Popen(command, env={**os.environ, **silent_index})
    assert eventually(lambda: bool(rooms(store)))
    process.kill()
    process.wait()
    assert list_left_over(store) != []
    wheel(wheels, "alpha", {"alpha.py": ""})
    assert store.install(["alpha"]).version("alpha") == "1.0"
    assert list_left_over(store) == []


@pytest.mark.slow
def test_concurrent_installations_give_the_same_set(wheels: Path, tmp_path: Path) -> None:
    wheel(wheels, "alpha", {"alpha.py": "x = 1\n"})
    root = tmp_path / "cache"

    def one(_: int) -> InstalledPackages:
        return PackageStore(root).install(["alpha"])

    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(one, range(4)))
    assert len(found) == 1
    assert list_left_over(PackageStore(root)) == []
