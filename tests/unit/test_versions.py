"""The command that installs greenloop, by the way it was installed."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from greenloop import versions
from tests.support.programs import read_table


@pytest.mark.parametrize(("origin", "command"), read_table(__file__, "ORIGINS"))
def test_an_extra_is_installed_from_where_greenloop_is_from(
    origin: Any, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = None if origin is None else json.dumps(origin)
    found = SimpleNamespace(read_text=lambda name: text)
    monkeypatch.setattr(versions, "distribution", lambda name: found)
    assert versions.format_install_command("mcp") == command
