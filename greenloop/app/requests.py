"""Requests with the settings that a resumed run needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from greenloop.settings import Settings
from greenloop.versions import greenloop_version
from greenloop.workflow.storage.request import (
    RequestT,
    SavedOptions,
    select_saved_options,
    with_absolute_replay,
)


def build_request(kind: type[RequestT], settings: Settings, **fields: Any) -> RequestT:
    """Return a request with the settings that a resumed run needs."""
    options = _with_absolute_replays(select_saved_options(settings))
    return kind(options=options, greenloop=greenloop_version(), **fields)


def to_absolute_path(path: Path | None) -> str | None:
    """Return an absolute path as a string: a run may be resumed from another folder."""
    return str(path.absolute()) if path is not None else None


def _with_absolute_replays(kept: SavedOptions) -> SavedOptions:
    """Make the paths of replay files absolute; that of the prompts is so in the settings."""
    models = {name: kept[name] for name in ("model", "fallback_model")}
    paths = {name: with_absolute_replay(str(model)) for name, model in models.items() if model}
    return {**kept, **paths}
