"""Scripts whose checks hold in one of two runs."""

from pathlib import Path

import pytest

from greenloop.sandbox.base import Sandbox
from greenloop.scripts.checks.options import parse_expect
from greenloop.workflow.heal.request import HealScriptRequest, OriginalFile
from greenloop.workflow.script.request import ScriptSpec
from tests.support.fake_sandbox import FakeSandbox
from tests.support.model_responses import fence
from tests.support.script_runs import build_run
from tests.support.workflow_runs import create_runner


@pytest.mark.parametrize(("repairs", "verdict"), [(0, "failed"), (1, "passed")])
def test_script_whose_checks_fail_in_a_second_run_is_not_green_but_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repairs: int, verdict: str
) -> None:
    runs = iter([build_run("ok\n"), build_run("no\n"), build_run("ok\n"), build_run("ok\n")])
    monkeypatch.setattr(Sandbox, "run_script", lambda *_: next(runs))
    spec = ScriptSpec(name="s.py", checks=(parse_expect("ok"),))
    original = OriginalFile(path=str(tmp_path / "s.py"), text="print('ok')\n", sha256="")
    done = create_runner(FakeSandbox({}), tmp_path / "home")(
        {"repair_script": [fence("print('ok', end='\\n')")]},
        request=HealScriptRequest(original=original, script=spec),
        max_repairs=repairs,
    )
    assert (done.report.verdict, done.error) == (verdict, None)
    assert all("in a second run" in text for text in done.model.list_prompts("repair_script"))
    assert not any("flaky" in item for item in done.report.reasons)
