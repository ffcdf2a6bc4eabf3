"""pytest made ready before a run is known: configuration and plugins are loaded once, in the zygote."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import Any

from .run_pytest import Channel, Reporter, options

_PRELOADED = (
    "abc argparse array asyncio base64 bisect calendar cmath collections collections.abc contextlib "
    "copy csv dataclasses datetime decimal difflib doctest email enum fractions functools glob hashlib "
    "heapq html importlib inspect io itertools json keyword logging math numbers operator os pathlib "
    "pickle pprint queue random re shutil sqlite3 statistics string struct subprocess tempfile "
    "textwrap threading time timeit tokenize traceback types typing unicodedata unittest "
    "unittest.mock urllib.parse uuid warnings weakref xml.etree.ElementTree zipfile zlib zoneinfo"
).split()
_SAMPLE = """
import pytest

@pytest.fixture
def thing():
    return [1]

@pytest.mark.parametrize("number", [1, 2])
def test_sample(number, thing, tmp_path, capsys, monkeypatch):
    assert [number] == thing

def test_raises():
    with pytest.raises(ValueError):
        int("x")
    assert 0.1 + 0.2 == pytest.approx(0.3)
"""


class ReadyPytest:
    """A configured pytest that waits for its files. One use in each clone."""

    def __init__(self, work: str, ini: str) -> None:
        """Raises whatever this version of pytest raises where its internals are not as expected."""
        from _pytest.config import _prepareconfig

        self._reporter = Reporter(work + os.sep)
        self._config = _prepareconfig(options(work, ini), [self._reporter])

    def run(self, job: dict[str, Any], handle: int, plugin: Any = None) -> int:
        """Runs the job's targets, with one more plugin; pytest's exit status."""
        channel = Channel(handle, job.pop("key"))
        if plugin is not None:
            plugin.begin(channel)
            self._config.pluginmanager.register(plugin)
        self._reporter.begin(channel, job["order_seed"])
        self._config.args = list(job["targets"])
        # When it was made ready the folder was empty, and pytest remembers that it had no conftest.
        self._config.pluginmanager._dirpath2confmods.clear()
        try:
            status = int(self._config.hook.pytest_cmdline_main(config=self._config))
        finally:
            self._config._ensure_unconfigure()
        channel.send("end", exit_status=status)
        return status


def preload() -> None:
    """Loads what tests usually import, and what pytest imports while it runs."""
    for name in _PRELOADED:
        with contextlib.suppress(ImportError):
            __import__(name)
    _rehearse()


def _rehearse() -> None:
    """One throw-away session in a child tells which modules a session loads; they are loaded here."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(send, _loaded_by_a_session())
        finally:
            os._exit(0)
    os.close(send)
    with os.fdopen(receive, "rb") as names:
        loaded = names.read().decode().split()
    os.waitpid(child, 0)
    for name in loaded:
        with contextlib.suppress(Exception):
            __import__(name)


def _loaded_by_a_session() -> bytes:
    import sys

    import pytest

    before = set(sys.modules)
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    with open("test_rehearsal.py", "w", encoding="utf-8") as file:
        file.write(_SAMPLE)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    pytest.main([*options(folder, os.devnull), "test_rehearsal.py"])
    names = sorted(set(sys.modules) - before - {"test_rehearsal"})
    return " ".join(names).encode()
