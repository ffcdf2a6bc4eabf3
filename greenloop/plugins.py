"""Entry points through which installed packages extend greenloop.

A package registers an object under one of these groups in its `pyproject.toml`:

    [project.entry-points."greenloop.executors"]
    ray = "greenloop.distributed.ray_executor:create_executor"
"""

from importlib.metadata import entry_points
from typing import Any, Literal

from greenloop.errors import SettingsError

PluginGroup = Literal[
    "greenloop.models",
    "greenloop.sandboxes",
    "greenloop.evidence",
    "greenloop.datasets",
    "greenloop.executors",
]


def list_plugins(group: PluginGroup) -> list[str]:
    """Return the names that are registered in a group, sorted; nothing is imported."""
    return sorted({item.name for item in entry_points(group=group)})


def load_plugin(group: PluginGroup, name: str) -> Any:
    """Import and return the object that is registered under a name; None without one.

    Raises SettingsError: the object cannot be imported, or two packages register the name.
    """
    registered = entry_points(group=group)
    found = {item.value: item for item in registered if item.name == name}
    if len(found) > 1:
        raise SettingsError(f"{group}: several packages register {name!r}: {', '.join(found)}")
    for item in found.values():
        try:
            return item.load()
        except (ImportError, AttributeError) as error:
            raise SettingsError(f"{group}: {name!r} cannot be loaded: {error}") from None
    return None
