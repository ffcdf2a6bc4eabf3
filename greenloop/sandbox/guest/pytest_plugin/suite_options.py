"""Options that are added to those of a project, and plug-in that takes away what cannot work."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from .plugins import SWITCHED_OFF


def build_arguments(root: str) -> list[str]:
    """Return pytest's arguments for all tests of a project, each with an outcome of its own."""
    return ["--rootdir", root, "--color=no", "--continue-on-collection-errors", "--maxfail=0"]


class SuiteOptions:
    """Switches off options of plug-ins that are installed."""

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
