"""pytest's configuration for test runs."""

from __future__ import annotations

import os
import sys
from typing import Any


def ini_file() -> str:
    """Return the path of the pytest.ini of test runs, which replaces that of the working folder."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "pytest.ini")


def options(work: str, ini: str) -> list[str]:
    """Return pytest's arguments, without the files: quiet and independent of other files."""
    chosen = ["-q", "--no-header", "--tb=short", "-rN", "--color=no", "-p", "no:cacheprovider"]
    chosen += ["--capture=sys", "--continue-on-collection-errors", "--disable-plugin-autoload"]
    places = ["-c", ini, "--rootdir", work, "--confcutdir", work]
    values = ["truncation_limit_lines=30", "truncation_limit_chars=3000"]
    return [*chosen, *places, *(part for value in values for part in ("-o", value))]


def remove_assert_rewriting() -> None:
    """Import test files as they are from now on: assertions then fail without an explanation.

    To rewrite the assertions takes a third of the time in which a small file is collected.
    """
    from _pytest.assertion.rewrite import AssertionRewritingHook

    sys.meta_path[:] = [item for item in sys.meta_path if type(item) is not AssertionRewritingHook]


def accept_undecodable_output() -> None:
    """Make pytest replace captured bytes that are not UTF-8, and lone surrogates.

    Otherwise the first test that prints such output breaks all later ones.
    """
    from _pytest.capture import CaptureIO

    original_init = CaptureIO.__init__

    def init(self: Any) -> None:
        original_init(self)
        self.reconfigure(errors="replace")

    def getvalue(self: Any) -> str:
        return bytes(self.buffer.getvalue()).decode("utf-8", "replace")

    CaptureIO.__init__, CaptureIO.getvalue = init, getvalue  # type: ignore[method-assign]
