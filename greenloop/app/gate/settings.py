"""Settings as they stood when a piece of work began: an agent can edit those of its project."""

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from greenloop.app.gate.run import GateRequest, find_base
from greenloop.configuration import PROJECT_FILE
from greenloop.errors import OutputError
from greenloop.project.git import run_git
from greenloop.settings import Settings, list_settings


def load_base_settings(request: GateRequest, **flags: Any) -> Settings:
    """Load the settings with the project's file of the base commit, and without its `.env`.

    Raises:
        SettingsError: one of them is invalid.
    """
    text = ""
    with suppress(OutputError):
        text = run_git(request.root, "show", f"{find_base(request)}:./{PROJECT_FILE}")
    with TemporaryDirectory() as folder:
        Path(folder, PROJECT_FILE).write_text(text, "utf-8")
        return Settings.load(Path(folder), **flags)


def replace_project_settings(settings: Settings, request: GateRequest) -> Settings:
    """Return settings of a server in which what a project may set is as at the base commit.

    Raises:
        SettingsError: one of them is invalid.
    """
    base = load_base_settings(request)
    names = (item.name for item in list_settings() if item.project and item.name != "python")
    return settings.model_copy(update={name: getattr(base, name) for name in names})
