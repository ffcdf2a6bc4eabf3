"""What a person changed is not written over by `batch`, and what it writes for CI is valid."""

import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
import xmlschema

from greenloop.records.batch import BatchOutcome, BatchTotals, LockCheckResult
from greenloop.reporting.batch import (
    BatchSummary,
    render_batch_junit,
    render_verify_junit,
    render_verify_markdown,
)
from tests.integration.cli.conftest import Run
from tests.integration.cli.test_batch import QUICK
from tests.support.many_specifications import (
    ManySpecifications,
    specification,
    write_specifications,
)
from tests.support.openai_server import OpenAIServer
from tests.support.reports import HOSTILE

pytestmark = pytest.mark.slow

SCHEMA = Path(__file__).parents[2] / "unit" / "reporting" / "schemas" / "junit-10.xsd"
MINE = "# mine\n"


def edit(path: str) -> str:
    text = Path(path).read_text() + MINE
    Path(path).write_text(text)
    return text


def test_what_was_changed_by_hand_is_refused_unless_forced(run: Run) -> None:
    write_specifications(2)
    server_side = ManySpecifications()
    batch = ("batch", "specs", "-o", "src")
    with OpenAIServer(server_side) as server:
        run(*batch, server=server, **QUICK)
        code, tests = edit("src/top_0.py"), edit("src/test_top_1.py")
        asked = sum(server_side.asked.values())
        # A new specification for one of them: it is refused all the same, before anything is paid.
        Path("specs/top-1.md").write_text(specification(1, "Numbers are whole."))
        status, out, err = run(*batch, server=server, **QUICK)
        assert (status, "2 changed by hand" in out) == (1, True), err
        assert "src/top_0.py was edited since it was graded" in err
        assert "src/test_top_1.py was edited since it was graded" in err
        assert sum(server_side.asked.values()) == asked
        assert (Path("src/top_0.py").read_text(), Path("src/test_top_1.py").read_text()) == (
            code,
            tests,
        )
        status, out, err = run(*batch, "--force", server=server, **QUICK)
        assert (status, "2 of 2 specifications reached" in out) == (0, True), err
        assert MINE not in Path("src/top_0.py").read_text()
        # What was deleted is nobody's work: it comes back, from answers that were paid for.
        Path("src/top_0.py").unlink()
        asked = sum(server_side.asked.values())
        assert run(*batch, server=server, **QUICK)[0] == 0
        assert Path("src/top_0.py").exists()
    assert sum(server_side.asked.values()) == asked


def test_a_file_without_a_lock_is_somebodys(run: Run) -> None:
    """But not where the batch's own run made it and was killed before it wrote the lock."""
    write_specifications(1)
    Path("src").mkdir()
    Path("src/top_0.py").write_text(MINE)
    server_side = ManySpecifications()
    with OpenAIServer(server_side) as server:
        status, _, err = run("batch", "specs", "-o", "src", server=server, **QUICK)
        assert (status, sum(server_side.asked.values())) == (1, 0)
        assert "src/top_0.py was not written by greenloop" in err
        Path("src/top_0.py").unlink()
        run("batch", "specs", "-o", "src", server=server, **QUICK)
        Path("src/top_0.greenloop.json").unlink()
        status, _, err = run("batch", "specs", "-o", "src", server=server, **QUICK)
        assert status == 0, err
    assert Path("src/top_0.greenloop.json").exists()


def test_what_is_written_for_ci(run: Run) -> None:
    write_specifications(2, s1="UPSIDE-DOWN")
    with OpenAIServer(ManySpecifications()) as server:
        forms = ("--markdown", "all.md", "--junit", "all.xml", "--github-output", "outputs")
        run("batch", "specs", "-o", "src", "--max-repairs", "0", *forms, server=server, **QUICK)
    text = Path("all.md").read_text()
    assert text.startswith("## ✗ 1 of 2 specifications reached")
    assert "`top-1` | failed" in text
    cases = Xml.parse("all.xml").getroot().findall(".//testcase")
    assert [(item.get("name"), [part.tag for part in item]) for item in cases] == [
        ("top-0", []),
        ("top-1", ["failure"]),
    ]
    lines = Path("outputs").read_text().splitlines()
    assert lines[:3] == ["reached=1", "verified=0", "failed=1"]
    assert lines[4:7] == ["src/top_0.py", "src/test_top_0.py", "src/top_0.greenloop.json"]
    assert lines[3] == f"changed-files<<{lines[7]}"


def test_forms_are_valid_whatever_stands_in_them() -> None:
    outcomes = tuple(
        BatchOutcome(id=f"{kind} {HOSTILE}", sha256="", kind=kind, exit_status=1, reason=HOSTILE)
        for kind in ("missed", "done before", "broken off", "refused")
    )
    summary = BatchSummary(BatchTotals(specifications=4), outcomes, ("never",))
    schema = xmlschema.XMLSchema(SCHEMA)
    drifted = (LockCheckResult(lock=HOSTILE, drift=(HOSTILE, "x")), LockCheckResult(lock="good"))
    for text in (render_batch_junit(summary), render_verify_junit(drifted)):
        schema.validate(Xml.fromstring(text.encode()))
    assert render_batch_junit(summary).count("<failure") == 2  # a goal was missed, also before
    assert render_verify_markdown(drifted).startswith("## ✗ 1 of 2 locks hold")


def test_json_names_what_was_refused(run: Run) -> None:
    write_specifications(1)
    Path("src").mkdir()
    Path("src/top_0.py").write_text(MINE)
    with OpenAIServer(ManySpecifications()) as server:
        _, out, _ = run("batch", "specs", "-o", "src", "--json", server=server, **QUICK)
    assert json.loads(out)["refused"] == 1
