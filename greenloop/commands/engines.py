"""Which engine has a batch's runs made. Ray is imported where it is asked for."""

from __future__ import annotations

from pathlib import Path

from greenloop.batch.engine import Engine, LocalEngine
from greenloop.errors import InputError


def engine_of(name: str, address: str | None, folder: Path) -> Engine:
    """The engine by its name; `folder` is the batch's.

    Raises:
        InputError: its packages are missing, or the options do not fit together.
    """
    if name == "local":
        if address is not None:
            raise InputError("--address is for --engine ray")
        return LocalEngine()
    from greenloop.engines.cluster import address_of, require_ray
    from greenloop.engines.ray_engine import RayEngine

    require_ray()
    return RayEngine(address_of(address), folder)
