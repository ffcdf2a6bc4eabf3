"""`verify`: results that a lock binds are taken over, the others are measured again."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from greenloop.records import Difference, HeldOut, Peer
from greenloop.records.evidence import piece_types
from greenloop.workflow.storage.lockfile import Grade, Lock, LockedFile, save_lock
from greenloop.workflow.storage.request import digest
from tests.support.programs import read_program

if TYPE_CHECKING:
    from tests.integration.cli.conftest import Run

LOCK = Path("src/clamp.greenloop.json")
CODE = """def clamp(x, low, high):
    if low > high:
        raise ValueError(f"low {low} is above high {high}")
    return max(low, min(x, high))
"""
TESTS = read_program(__file__, "TESTS")
AGREEING = Peer(inputs=300, allowed=300, agreed=300)
HELD = HeldOut(reached=True, total=4, agreed=4)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a project with a lock that binds no results."""
    monkeypatch.chdir(tmp_path)
    Path("src").mkdir()
    Path("src/clamp.py").write_text(CODE, "utf-8")
    Path("src/test_clamp.py").write_text(TESTS, "utf-8")
    lock = Lock(
        text_sha256=digest(""),
        code=LockedFile(path="clamp.py", sha256=digest(CODE)),
        tests=(LockedFile(path="test_clamp.py", sha256=digest(TESTS)),),
        grade=Grade(verdict="verified"),
        rules=tuple(piece_types().keys() - {"isolated", "peer", "held_out"}),
    )
    save_lock(LOCK, lock)


def bind(**changes: Any) -> None:
    """Write the lock as it is written now, with these results."""
    values = {"held_out": HELD, "peer": AGREEING, **changes}
    bound = {name: item and item.model_dump(mode="json") for name, item in values.items()}
    lock = {**json.loads(LOCK.read_text("utf-8")), "rules": list(piece_types()), **bound}
    LOCK.write_text(json.dumps(lock), "utf-8")


def test_bound_results_are_taken_over(run: "Run") -> None:
    bind()
    status, out, err = run("verify", str(LOCK), "--require", "verified")
    assert status == 0, out + err
    assert out == f"holds    {LOCK}: verified\n"


def test_a_lock_of_older_rules_holds_and_says_so(run: "Run") -> None:
    status, out, _ = run("verify", str(LOCK))
    assert status == 0
    assert out == f"holds    {LOCK}: passed (graded by an older version: grade it again)\n"
    status, out, _ = run("verify", str(LOCK), "--json", "--require", "verified")
    assert status == 1
    (found,) = json.loads(out)
    assert (found["drift"], found["note"]) == ([], "graded by an older version: grade it again")


@pytest.mark.parametrize(
    "peer",
    [
        None,
        AGREEING.model_copy(
            update={"differences": (Difference(call="clamp(1, 2, 3)", code="1", peer="2"),)}
        ),
    ],
)
def test_a_grade_that_no_longer_holds_by_its_own_rules_has_drifted(
    run: "Run", peer: Peer | None
) -> None:
    bind(peer=peer)
    status, out, _ = run("verify", str(LOCK))
    assert status == 1
    assert out.startswith(f"drifted  {LOCK}: it is no longer verified: second implementation")
