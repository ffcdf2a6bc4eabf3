"""pytest plugins of the packages that are installed for a run."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint, distributions
from typing import Any

# Options added in a project's environment, by plug-in. They switch off processes that report
# elsewhere, and thresholds that do not apply if only a part of the tests is run.
SWITCHED_OFF = {"xdist": "-n0", "pytest_cov": "--no-cov"}
_HYPOTHESIS, _ASYNCIO = "hypothesispytest", "pytest_asyncio.plugin"


def list_plugins(packages: str) -> list[EntryPoint]:
    """Return the plugins of the packages in a folder, '' for none."""
    found = distributions(path=[packages]) if packages else ()
    points = (item for package in found for item in package.entry_points)
    return sorted((item for item in points if item.group == "pytest11"), key=lambda item: item.name)


def load_plugins(packages: str) -> list[Any]:
    """Return the plugins of the packages in a folder that can be loaded with this pytest."""
    return [loaded for item in list_plugins(packages) for loaded in _load(item)]


def build_plugin_options(loaded: list[Any]) -> list[str]:
    """Return pytest's options for plugins that warn without them."""
    if not any(getattr(item, "__name__", "") == _ASYNCIO for item in loaded):
        return []
    return ["-o", "asyncio_default_fixture_loop_scope=function"]


def _load(plugin: EntryPoint) -> Iterator[Any]:
    try:
        if plugin.name == _HYPOTHESIS:
            _configure_hypothesis()
        yield plugin.load()
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
