"""A check of a whole folder that is interrupted says how it goes on."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from greenloop.app.check_all import check_modules
from greenloop.errors import InterruptedRunError
from greenloop.settings import Settings


def test_an_interrupted_check_of_a_folder_says_that_it_can_be_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.py").write_text("def double(x):\n    return 2 * x\n")
    test = "from m import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
    (tmp_path / "test_m.py").write_text(test)

    async def stop(*_: Any) -> tuple[None, InterruptedRunError]:
        return None, InterruptedRunError("interrupted; a check cannot be resumed: run it again")

    async def open_box() -> Any:
        raise AssertionError("no sandbox is needed")

    monkeypatch.setattr("greenloop.app.check_all.check_files", stop)
    work = check_modules(tmp_path, Settings(home=tmp_path / "home"), open_box)
    with pytest.raises(InterruptedRunError, match="the same command continues"):
        asyncio.run(work)
