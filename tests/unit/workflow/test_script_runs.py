"""Scripts whose checks hold in one of two runs, and files that they made and that were not kept."""

from pathlib import Path
from typing import Any

import pytest

from greenloop.errors import OutputError
from greenloop.records.script_result import ProducedFile
from greenloop.sandbox.base import Sandbox
from greenloop.scripts.checks.options import parse_expect
from greenloop.workflow.heal.delivery import deliver_healed_script
from greenloop.workflow.heal.request import HealScriptRequest, OriginalFile
from greenloop.workflow.kind import Consent
from greenloop.workflow.script.request import ScriptSpec
from greenloop.workflow.storage.run_dir import RunDirectory
from tests.support.fake_sandbox import FakeSandbox
from tests.support.model_responses import fence
from tests.support.script_runs import build_run
from tests.support.workflow_runs import create_runner


def build_request(folder: Path, **fields: Any) -> HealScriptRequest:
    spec = ScriptSpec(name="s.py", checks=(parse_expect("ok"),), **fields)
    original = OriginalFile(path=str(folder / "s.py"), text="print('ok')\n", sha256="")
    return HealScriptRequest(original=original, script=spec, output=str(folder / "out.py"))


@pytest.mark.parametrize(("repairs", "verdict"), [(0, "failed"), (1, "passed")])
def test_script_whose_checks_fail_in_a_second_run_is_not_green_but_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repairs: int, verdict: str
) -> None:
    runs = iter([build_run("ok\n"), build_run("no\n"), build_run("ok\n"), build_run("ok\n")])
    monkeypatch.setattr(Sandbox, "run_script", lambda *_: next(runs))
    done = create_runner(FakeSandbox({}), tmp_path / "home")(
        {"repair_script": [fence("print('ok', end='\\n')")]},
        request=build_request(tmp_path),
        max_repairs=repairs,
    )
    assert (done.report.verdict, done.error) == (verdict, None)
    assert all("in a second run" in text for text in done.model.list_prompts("repair_script"))
    assert not any("flaky" in item for item in done.report.reasons)


def test_created_file_that_is_too_large_to_keep_is_named_by_artifacts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = build_run("ok\n", left_out=("big.bin: 20971520 bytes: the size limit is reached",))
    made = (ProducedFile(path="big.bin", size=20 << 20),)
    monkeypatch.setattr(Sandbox, "run_script", lambda *_: run.model_copy(update={"made": made}))
    (tmp_path / "out.py").touch()  # is not overwritten, as nothing was healed
    request = build_request(tmp_path, artifacts=str(tmp_path / "made"))
    report = create_runner(FakeSandbox({}), tmp_path / "home")({}, request=request).report
    consent = Consent(False, lambda *_: False, None, pytest.fail)
    with pytest.raises(OutputError, match="not complete: created files were not kept: big"):
        deliver_healed_script(report, request, RunDirectory(tmp_path / "run"), consent)
