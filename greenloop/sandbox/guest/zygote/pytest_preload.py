"""Preloading of pytest: what runs find loaded when their session begins."""

from contextlib import suppress

from ..pytest_plugin.plugins import load_plugins

_MODULES = (
    "_pytest._argcomplete _pytest.faulthandler _pytest.helpconfig _pytest.junitxml _pytest.pastebin "
    "_pytest.setuponly _pytest.setupplan _pytest.skipping _pytest.subtests _pytest.threadexception "
    "_pytest.tracemalloc _pytest.unittest _pytest.unraisableexception _pytest.warnings getpass "
    "readline termios"
).split()


def preload_pytest(packages: str) -> None:
    """Load what a session loads, as far as this pytest has it, and the plugins in a folder."""
    for name in _MODULES:
        with suppress(Exception):
            __import__(name)
    load_plugins(packages)
