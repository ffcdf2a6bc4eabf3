"""pytest's configuration for test runs of a module, and additions to that of a project."""

import copy
import os
from collections.abc import Iterator
from typing import Any

import pytest

from .plugins import SWITCHED_OFF


def ini_file() -> str:
    """Return the path of the pytest.ini of test runs, which replaces that of the working folder."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "pytest.ini")


def options(work: str, ini: str) -> list[str]:
    """Return pytest's arguments except the test files, for quiet runs without other settings."""
    chosen = ["-q", "--no-header", "--tb=short", "-rN", "--color=no", "-p", "no:cacheprovider"]
    chosen += ["--capture=sys", "--continue-on-collection-errors", "--disable-plugin-autoload"]
    places = ["-c", ini, "--rootdir", work, "--confcutdir", work]
    values = ["truncation_limit_lines=30", "truncation_limit_chars=3000"]
    return [*chosen, *places, *(part for value in values for part in ("-o", value))]


def accept_undecodable_output() -> None:
    """Make pytest replace captured bytes that are not UTF-8, and lone surrogates.

    Otherwise the first test that prints such output breaks all later ones.
    """
    from _pytest.capture import CaptureIO

    original_init = CaptureIO.__init__

    def init(self: Any) -> None:
        original_init(self)
        self.reconfigure(errors="replace")

    def getvalue(self: Any) -> str:
        return bytes(self.buffer.getvalue()).decode("utf-8", "replace")

    CaptureIO.__init__, CaptureIO.getvalue = init, getvalue  # type: ignore[method-assign]


def build_arguments(root: str) -> list[str]:
    """Return pytest's arguments for a project, by which all its tests run and report an outcome."""
    return ["--rootdir", root, "--color=no", "--continue-on-collection-errors", "--maxfail=0"]


class SuiteOptions:
    """Plug-in that adds the options in `SWITCHED_OFF` for plug-ins that are installed."""

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(
        self, early_config: Any, parser: Any, args: list[str]
    ) -> Iterator[None]:
        manager = early_config.pluginmanager
        added = [option for name, option in SWITCHED_OFF.items() if manager.hasplugin(name)]
        if added:
            args += added
            known = parser.parse_known_args(args, namespace=copy.copy(early_config.option))
            early_config.known_args_namespace = known
        yield
