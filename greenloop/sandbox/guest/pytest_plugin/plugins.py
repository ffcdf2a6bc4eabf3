"""pytest plugins of installed packages, loaded if a run uses them."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

# Options added in a project's environment, by plug-in: processes that report elsewhere, and
# thresholds for runs of a part of the tests.
SWITCHED_OFF = {"xdist": "-n0", "pytest_cov": "--no-cov"}
_PLUGIN_MODULES = {  # by package
    "pytest_asyncio": "pytest_asyncio.plugin",
    "anyio": "anyio.pytest_plugin",
    "hypothesis": "_hypothesis_pytestplugin",
}
# Texts by which a file uses a package, if not only by its name.
_USAGE_MARKERS = {"pytest_asyncio": (b"pytest_asyncio", b"mark.asyncio", b"asyncio_mode")}


def load_plugins(is_wanted: Callable[[str], bool] = lambda package: True) -> list[Any]:
    """Return the plugins of installed packages for which `is_wanted` is true."""
    return [
        found
        for name, plugin in _PLUGIN_MODULES.items()
        if is_wanted(name)
        for found in _import_plugin(name, plugin)
    ]


def build_plugin_options(loaded: list[Any]) -> list[str]:
    """Return pytest's options for plugins that warn without them."""
    if not any(item.__name__ == _PLUGIN_MODULES["pytest_asyncio"] for item in loaded):
        return []
    return ["-o", "asyncio_default_fixture_loop_scope=function"]


def build_usage_predicate(*folders: str) -> Callable[[str], bool]:
    """Return a predicate: whether a file in one of the folders names a package."""
    used = find_plugin_packages(text for folder in folders for text in _read_texts(folder))
    return lambda package: package in used


def find_plugin_packages(texts: Iterable[bytes]) -> tuple[str, ...]:
    """Return the packages with plugins that one of these files names."""
    text = b"\n".join(texts)
    words = {name: _USAGE_MARKERS.get(name, (name.encode(),)) for name in _PLUGIN_MODULES}
    return tuple(name for name, some in words.items() if any(word in text for word in some))


def _read_texts(work: str) -> Iterator[bytes]:
    for name in os.listdir(work):
        if name.endswith((".py", ".toml", ".ini", ".cfg")) and os.path.isfile(f"{work}/{name}"):
            with open(os.path.join(work, name), "rb") as file:
                yield file.read()


def _import_plugin(package: str, plugin: str) -> Iterator[Any]:
    """Yield the plugin's module; nothing if it is not installed or does not fit this pytest."""
    try:
        if importlib.util.find_spec(package) is not None:
            if package == "hypothesis":
                _configure_hypothesis()
            yield importlib.import_module(plugin)
    except Exception:
        return


def _configure_hypothesis() -> None:
    """Make hypothesis repeatable: the same examples each time, no deadline, no database.

    `@settings(…)` on a test takes precedence.
    """
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "repeatable",
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("repeatable")
