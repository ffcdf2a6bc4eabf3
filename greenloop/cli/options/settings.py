"""The settings of a command, with its options over them."""

import logging

from greenloop.cli.options.declaration import Options
from greenloop.cli.process import print_error
from greenloop.configuration import PROJECT_FILE, read_project_table
from greenloop.settings import Settings, find_ignored


def load_settings(options: Options) -> Settings:
    """Return the settings with a command's options over them; warn of those that are ignored.

    Raises SettingsError: a setting is invalid.
    """
    logging.getLogger("dotenv.main").disabled = True  # what it would say is in the warnings
    for line in find_ignored():
        print_error(f"warning: {line}")
    settings = Settings.load(**options.given)
    if packages := read_project_table().get("allow-packages"):
        print_error(f"{PROJECT_FILE} allows the packages {','.join(packages)}")
    return settings
