"""What the gate remembers from stop to stop; the measurement itself is replaced."""

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from greenloop.app import check_diff
from greenloop.app.gate import run as gate
from greenloop.errors import InputError
from greenloop.workflow.report_builder import build_report
from tests.integration.cli.conftest import Run
from tests.support.git import commit_all
from tests.support.programs import read_table

CASES: dict[str, list[list[Any]]] = read_table(__file__, "CASES")


@pytest.mark.parametrize("steps", CASES.values(), ids=CASES)
def test_no_work_is_hidden_by(
    steps: list[list[Any]], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def measure(_: Any, diff: Any, settings: Any, *__: Any) -> Any:
        error = InputError("late") if "late" in said else None
        report = build_report(check_diff._start(diff, settings)[1])
        return report.model_copy(update={"reasons": ()}), error

    said: list[str] = []
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path.with_name("state")))
    monkeypatch.setattr(gate, "_measure", measure)
    for name, *details in steps:
        match details:
            case [str(text)]:
                Path(name).parent.mkdir(parents=True, exist_ok=True)
                Path(name).write_text(text)
            case [{**event}, answer]:
                event["cwd"] = str(tmp_path / event.get("cwd", ""))
                monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(event)))
                assert re.fullmatch(answer, "".join(run("gate", *name.split())[1:]), re.DOTALL)
            case []:
                said.append(name)
                commit_all(tmp_path) if name == "commit" else None
