"""The command that installs greenloop, by the way it was installed."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from greenloop import versions


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'greenloop[mcp]'"),
        (
            {"url": "file:///home/me/green%20loop", "dir_info": {"editable": True}},
            "pip install -e '/home/me/green loop[mcp]'",
        ),
        (
            {"url": "file:///src/distributions/check", "dir_info": {}},
            "pip install '/src[mcp]'",
        ),
        (
            {"url": "https://host/x.git", "vcs_info": {"vcs": "git", "commit_id": "ab12"}},
            "pip install 'greenloop[mcp] @ git+https://host/x.git@ab12'",
        ),
        (
            {"url": "file:///w/greenloop-0.2.0-py3-none-any.whl", "archive_info": {}},
            "pip install 'greenloop[mcp] @ file:///w/greenloop-0.2.0-py3-none-any.whl'",
        ),
    ],
)
def test_an_extra_is_installed_from_where_greenloop_is_from(
    origin: Any, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = None if origin is None else json.dumps(origin)
    found = SimpleNamespace(read_text=lambda name: text)
    monkeypatch.setattr(versions, "distribution", lambda name: found)
    assert versions.format_install_command("mcp") == command
