"""Changes of a project: tests first, locked tests, repairs, disputes, and what is never changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.change_responses import change_answers, change_request

if TYPE_CHECKING:
    from tests.unit.workflow.conftest import RunWorkflow


def test_wish_becomes_a_patch_with_tests(run_workflow: RunWorkflow, tmp_path: Path) -> None:
    done = run_workflow(change_answers(), request=change_request(tmp_path))
    report = done.report
    assert (report.verdict, report.command) == ("passed", "change"), report.reasons
    assert done.model.tools == [
        "locate_change",
        "plan_change",
        "write_change_tests",
        "write_change",
    ]
    assert [item.path for item in report.change.files] == [
        "src/shop/prices.py",
        "tests/test_discount.py",
    ]
    assert report.change.baseline.locked == 5
