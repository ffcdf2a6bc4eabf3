"""Settings from the base commit, because an agent can edit those of the working tree."""

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
    """Load the settings with the base commit's project file, and without the project's `.env`.

    Raises:
        SettingsError: a setting is invalid.
    """
    text = ""
    with suppress(OutputError):
        text = run_git(request.root, "show", f"{find_base(request)}:./{PROJECT_FILE}")
    with TemporaryDirectory() as folder:
        Path(folder, PROJECT_FILE).write_text(text, "utf-8")
        return Settings.load(Path(folder), **flags)


def replace_project_settings(settings: Settings, request: GateRequest) -> Settings:
    """Return a server's settings with the project's settings, except `python`, of the base commit.

    Raises:
        SettingsError: a setting is invalid.
    """
    base = load_base_settings(request)
    names = (item.name for item in list_settings() if item.project and item.name != "python")
    return settings.model_copy(update={name: getattr(base, name) for name in names})
