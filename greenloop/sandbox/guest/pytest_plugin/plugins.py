"""pytest plugins of packages that a run may use: on where the package is there, else unheard of."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_PLUGIN_MODULES = {  # by package
    "pytest_asyncio": "pytest_asyncio.plugin",
    "anyio": "anyio.pytest_plugin",
    "hypothesis": "_hypothesis_pytestplugin",
}
_USAGE_MARKERS = {
    "pytest_asyncio": (b"pytest_asyncio", b"mark.asyncio")
}  # of who uses it; else its name


def load_plugins(is_wanted: Callable[[str], bool] = lambda package: True) -> list[Any]:
    """The plugins of installed packages that are `wanted`, as pytest takes them."""
    return [
        found
        for name, plugin in _PLUGIN_MODULES.items()
        if is_wanted(name)
        for found in _import_plugin(name, plugin)
    ]


def build_plugin_options(loaded: list[Any]) -> list[str]:
    """What pytest has to be told of them: what is not said gives a warning."""
    if not any(item.__name__ == _PLUGIN_MODULES["pytest_asyncio"] for item in loaded):
        return []
    return ["-o", "asyncio_default_fixture_loop_scope=function"]


def build_usage_predicate(*folders: str) -> Callable[[str], bool]:
    """Whether a file in one of the folders names a package: to load what none uses only costs time."""
    named = find_plugin_packages(text for folder in folders for text in _read_texts(folder))
    return lambda package: package in named


def find_plugin_packages(texts: Iterable[bytes]) -> tuple[str, ...]:
    """The packages with plugins that one of these files names."""
    text = b"\n".join(texts)
    words = {name: _USAGE_MARKERS.get(name, (name.encode(),)) for name in _PLUGIN_MODULES}
    return tuple(name for name, some in words.items() if any(word in text for word in some))


def _read_texts(work: str) -> Iterator[bytes]:
    for name in os.listdir(work):
        if name.endswith((".py", ".toml", ".ini", ".cfg")) and os.path.isfile(f"{work}/{name}"):
            with open(os.path.join(work, name), "rb") as file:
                yield file.read()


def _import_plugin(package: str, plugin: str) -> Iterator[Any]:
    """The plugin's module; nothing where it is not there or does not go with this pytest."""
    try:
        if importlib.util.find_spec(package) is not None:
            if package == "hypothesis":
                _configure_hypothesis()
            yield importlib.import_module(plugin)
    except Exception:
        return


def _configure_hypothesis() -> None:
    """hypothesis: the same examples each time, whatever the machine's speed; nothing is kept.

    `@settings(…)` on a test still has the last word.
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
