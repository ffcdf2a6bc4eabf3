"""The init process of a container."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.sandbox.guest.container import init


def test_outside_of_a_container_no_folder_is_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs as pid 1 and empties /tmp before each run."""
    (tmp_path / "kept").write_text("")
    monkeypatch.setattr(init, "_WRITABLE_FOLDERS", (str(tmp_path),))
    with pytest.raises(SystemExit, match="not in a container"):
        init.main()
    assert (tmp_path / "kept").exists()
