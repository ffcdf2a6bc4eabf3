"""The settings of a command, with its options over them."""

from __future__ import annotations

import logging

from greenloop.cli.options.declaration import collect_settings
from greenloop.cli.process import print_error
from greenloop.configuration import PROJECT_FILE, read_project_settings
from greenloop.settings import Settings


def load_settings(options: object) -> Settings:
    """Return the settings with a command's options over them; warn of those that are ignored.

    Raises:
        SettingsError: a setting is invalid.
    """
    logging.getLogger("dotenv.main").disabled = True  # what it would say is in the warnings
    for line in Settings.find_ignored():
        print_error(f"warning: {line}")
    if packages := read_project_settings(lambda _: 0).get("allow_package"):
        print_error(f"{PROJECT_FILE} allows the packages {packages}")
    return Settings.load(**collect_settings(options))
