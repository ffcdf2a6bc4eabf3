"""Options that are added to those of a project, and plug-in that takes away what cannot work."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

# By plug-in: processes that report elsewhere, and thresholds for runs of a part of the tests.
_SWITCHED_OFF = {"xdist": "-n0", "pytest_cov": "--no-cov"}


def build_arguments(root: str) -> list[str]:
    """Return pytest's arguments for all tests of a project, each with an outcome of its own."""
    return ["--rootdir", root, "--color=no", "--continue-on-collection-errors", "--maxfail=0"]


class SuiteOptions:
    """Switches off options of plug-ins that are installed; reports which as `adjusted`."""

    def __init__(self, send: Callable[..., None] | None = None) -> None:
        self._send = send

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(
        self, early_config: Any, parser: Any, args: list[str]
    ) -> Iterator[None]:
        manager = early_config.pluginmanager
        added = [option for name, option in _SWITCHED_OFF.items() if manager.hasplugin(name)]
        if added:
            args += added
            known = parser.parse_known_args(args, namespace=copy.copy(early_config.option))
            early_config.known_args_namespace = known
        if self._send:
            self._send("adjusted", options=added)
        yield
