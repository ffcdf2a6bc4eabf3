"""pytest's configuration for test runs."""

from __future__ import annotations

import os


def ini_file() -> str:
    """Path of the pytest.ini of test runs: no configuration of the working folder is read."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "pytest.ini")


def options(work: str, ini: str) -> list[str]:
    """pytest's arguments but for the files: quiet, and with nothing of what lies around."""
    chosen = ["-q", "--no-header", "--tb=short", "-rN", "--color=no", "-p", "no:cacheprovider"]
    chosen += ["--capture=sys", "--continue-on-collection-errors", "--disable-plugin-autoload"]
    places = ["-c", ini, "--rootdir", work, "--confcutdir", work]
    values = ["truncation_limit_lines=30", "truncation_limit_chars=3000"]
    return [*chosen, *places, *(part for value in values for part in ("-o", value))]
