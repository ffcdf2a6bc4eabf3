"""`greenloop change`: a wish in a project becomes a graded patch."""

import subprocess
from pathlib import Path

import pytest

from tests.support.change_responses import BREAKS_LOCKED, WISH, copy_shop, write_replay
from tests.support.command_line import Run


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GREENLOOP_MUTANTS", "0")
    return copy_shop(Path.cwd())


def test_a_wish_becomes_a_patch_that_git_applies_and_verify_confirms(run: Run, shop: Path) -> None:
    prices = shop / "src/shop/prices.py"
    old = prices.read_text()
    words = ("change", WISH, "--in", "shop", "--model", write_replay(), "-o", "patch.diff")
    status, out, err = run(*words)
    assert status == 0, err
    assert out.startswith("diff --git a/src/shop/prices.py")
    assert prices.read_text() == old
    subprocess.run(["git", "apply", "../patch.diff"], cwd=shop, check=True)
    assert "discount: int = 0" in prices.read_text()
    assert "def test_whole_discount" in (shop / "tests/test_discount.py").read_text()
    assert run("verify", "patch.greenloop.json")[:2] == (
        *(0, "holds    patch.greenloop.json: passed\n"),
    )


@pytest.mark.slow
def test_the_recorded_change_is_verified_and_applied_to_the_project(
    run: Run, examples: Path
) -> None:
    words = ("change", WISH, "--in", "examples/change_shop/shop", "--apply")
    status, out, err = run(*words, "--model", "replay:examples/change_shop/recording.jsonl")
    assert (status, "# verified: 8 of 8 tests pass" in out) == (0, True), err
    assert "discount" in (examples / "change_shop/shop/src/shop/prices.py").read_text()


def test_a_change_that_breaks_an_old_test_is_not_applied(run: Run, shop: Path) -> None:
    before = (shop / "src/shop/rates.py").read_text()
    model = write_replay(write_change=[BREAKS_LOCKED], repair_change=[])
    words = ("change", WISH, "--in", "shop", "--model", model, "--apply", "--max-repairs", "0")
    status, out, err = run(*words)
    assert status == 1, out + err
    assert (shop / "src/shop/rates.py").read_text() == before
