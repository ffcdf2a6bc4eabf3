"""Entry points through which installed packages extend greenloop.

A package registers an object under one of these groups in its `pyproject.toml`:

    [project.entry-points."greenloop.executors"]
    ray = "greenloop.distributed.ray_executor:create_executor"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from greenloop.distributions import registers_entry_points
from greenloop.errors import SettingsError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PluginGroup = Literal[
    "greenloop.models",
    "greenloop.sandboxes",
    "greenloop.evidence",
    "greenloop.datasets",
    "greenloop.executors",
]


def entry_points(group: PluginGroup) -> Iterable[EntryPoint]:
    """Return the entry points of a group that installed packages register."""
    if not registers_entry_points(group):
        return ()
    from importlib import metadata

    return metadata.entry_points(group=group)


@lru_cache
def _read_entry_points(
    read: Callable[..., Iterable[EntryPoint]], group: PluginGroup
) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, read once: this takes milliseconds, and each grade asks."""
    return tuple(read(group=group))


def list_plugins(group: PluginGroup) -> list[str]:
    """Return the names that are registered in a group, sorted; nothing is imported."""
    return sorted({item.name for item in _read_entry_points(entry_points, group)})


def load_plugin(group: PluginGroup, name: str) -> Any:
    """Import what is registered under a name; None where nothing is.

    Raises:
        SettingsError: the object cannot be imported, or two packages register the name.
    """
    registered = _read_entry_points(entry_points, group)
    found = {item.value: item for item in registered if item.name == name}
    if len(found) > 1:
        raise SettingsError(f"{group}: several packages register {name!r}: {', '.join(found)}")
    for item in found.values():
        try:
            return item.load()
        except (ImportError, AttributeError) as error:
            raise SettingsError(f"{group}: {name!r} cannot be loaded: {error}") from None
    return None
