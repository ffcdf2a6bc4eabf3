"""Settings of a command, overridden by its options."""

import logging

from greenloop.cli.options.declaration import Options
from greenloop.cli.process import print_error
from greenloop.configuration import PROJECT_FILE, read_project_table
from greenloop.settings import Settings, find_ignored


def load_settings(options: Options) -> Settings:
    """Return the settings, overridden by a command's options; warn of settings that are ignored.

    Raises SettingsError: a setting is invalid.
    """
    logging.getLogger("dotenv.main").disabled = True  # `find_ignored` reports the same
    for line in find_ignored():
        print_error(f"warning: {line}")
    settings = Settings.load(**options.given)
    if packages := read_project_table().get("allow-packages"):
        print_error(f"{PROJECT_FILE} allows the packages {','.join(packages)}")
    return settings
