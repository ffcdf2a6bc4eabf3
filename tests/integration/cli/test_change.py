"""`change` from the command line: what it writes where, and what it refuses."""

import subprocess
from codecs import BOM_UTF8
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Run
from tests.support.change_responses import WISH, copy_shop, plan_answer, write_replay
from tests.support.git import IDENTITY, commit_all, files_of, git


@pytest.fixture(autouse=True)
def shop(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the project into the working folder; mutants have tests of their own."""
    monkeypatch.setenv("GREENLOOP_MUTANTS", "0")
    return copy_shop(Path.cwd())


def test_branch_gets_one_commit_and_runs_no_hook(run: Run, shop: Path) -> None:
    commit_all(shop)
    trap = add_hook_and_filter(shop)
    before = files_of(shop)
    call = ("change", WISH, "--in", "shop", "--model", write_replay(), "--branch", "discount")
    status, _, err = run(*call, **IDENTITY)
    assert status == 0, err
    assert not trap.exists()
    assert files_of(shop) == before
    assert git(shop, "diff", "--name-only", "HEAD", "discount").split() == [
        "src/shop/prices.py",
        "tests/test_discount.py",
    ]


def test_branch_can_be_checked_out_in_the_project(run: Run, shop: Path) -> None:
    commit_all(shop)
    call = ("change", WISH, "--in", "shop", "--model", write_replay(), "--branch", "discount")
    assert run(*call, **IDENTITY)[0] == 0
    git(shop, "checkout", "-q", "discount")
    assert "discount: int = 0" in (shop / "src/shop/prices.py").read_text()


def test_hooks_and_filters_run_where_that_is_asked_for(run: Run, shop: Path) -> None:
    commit_all(shop)
    trap = add_hook_and_filter(shop)
    call = ("change", WISH, "--in", "shop", "--model", write_replay(), "--branch", "discount")
    status, _, err = run(*call, "--run-hooks", **IDENTITY)
    assert (status, set(trap.read_text().split())) == (0, {"hook", "filter"})
    assert "--run-hooks: git hooks and filters will run the new code outside the sandbox" in err


def add_hook_and_filter(shop: Path) -> Path:
    """Add a hook and a clean filter for Python files; return the file that both write to."""
    trap = shop.absolute().parent / "ran"
    hook = shop / ".git" / "hooks" / "pre-commit"
    hook.write_text(f"#!/bin/sh\necho hook >> {trap}\n")
    hook.chmod(0o755)
    (shop / ".git" / "info" / "attributes").write_text("*.py filter=trap\n")
    git(shop, "config", "filter.trap.clean", f"echo filter >> {trap}; cat")
    return trap


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([WISH, "--in", "shop", "-o", "answers.jsonl/x.diff"], "x.diff cannot be written"),
        (["  ", "--in", "shop"], "is empty"),
        (["--in", "shop"], "WISH is missing"),
        ([WISH, "--in", "nowhere"], "does not exist"),
        ([WISH, "--in", "shop", "--branch", "x"], "has no git commit"),
        ([WISH, "--in", "shop", "--apply", "--branch", "x"], "cannot be used together"),
        ([WISH, "--in", "shop", "--fence", "../*"], "a glob relative to"),
        ([WISH, "--in", "shop", "--may-change", "tests/x.py::test_y"], "no such test"),
        ([WISH, "--in", "shop", "--tests", "nowhere.py"], "does not exist"),
    ],
)
def test_bad_input_ends_with_one_line(run: Run, arguments: list[str], message: str) -> None:
    status, _, err = run("change", *arguments, "--model", write_replay())
    assert status == 2
    assert message in err


def test_an_issue_alone_is_a_wish(run: Run) -> None:
    Path("issue.md").write_text("Prices below zero are wrong.\n")
    status, out, _ = run("change", "--issue", "issue.md", "--in", "shop", "--dry-run")
    assert (status, "calls" in out) == (0, True)
    Path("issue.md").write_text("\n")
    status, _, err = run("change", "--issue", "issue.md", "--in", "shop", "--dry-run")
    assert (status, "--issue issue.md is empty" in err) == (2, True)


def test_dirty_tree_has_no_branch(run: Run, shop: Path) -> None:
    commit_all(shop)
    (shop / "new.txt").write_text("x")
    status, _, err = run("change", WISH, "--in", "shop", "--model", write_replay(), "--branch", "x")
    assert (status, "not committed" in err) == (2, True)


def test_wish_against_a_test_stops_until_it_is_unlocked(run: Run) -> None:
    test = "tests/test_prices.py::test_total"
    answers = {"plan_change": [plan_answer(contradicts=[test])]}
    status, _, err = run("change", WISH, "--in", "shop", "--model", write_replay(**answers))
    assert (status, f"--may-change {test}" in err) == (1, True)
    status, _, err = run(
        *("change", WISH, "--in", "shop", "--may-change", test), "--model", write_replay(**answers)
    )
    assert status == 0, err


def test_run_without_a_model_is_one_error_and_no_verdict(run: Run) -> None:
    for words in (("change", WISH, "--in", "shop"), ("script", "Print 1")):
        status, out, err = run(*words)
        assert (status, out) == (3, "")
        assert err.count("no model is configured") == 1
        assert "failed:" not in err


def test_dry_run_makes_no_call(run: Run) -> None:
    status, out, err = run(
        "change", WISH, "--in", "shop", "--dry-run", "--model", "replay:no.jsonl"
    )
    assert (status, err) == (0, "")
    assert out.startswith("5 to 9 calls, about ")  # one more confirms what is taken for background
    assert not Path(".greenloop").exists()


def test_patch_is_verified_before_and_after_it_is_applied(run: Run, shop: Path) -> None:
    run("change", WISH, "--in", "shop", "--model", write_replay(), "-o", "patch.diff")
    assert run("verify", "patch.greenloop.json")[0] == 0
    subprocess.run(["patch", "-s", "-p1", "-i", "../patch.diff"], cwd=shop, check=True)
    status, out, _ = run("verify", "patch.greenloop.json")
    assert (status, out) == (0, "holds    patch.greenloop.json: passed\n")
    prices = shop / "src/shop/prices.py"
    prices.write_text(prices.read_text().replace("* discount", "* 2 * discount"))
    status, out, err = run("verify", "patch.greenloop.json")
    assert status in (1, 2)
    assert "patch" in out + err


def test_folder_without_python_is_refused(run: Run) -> None:
    Path("site").mkdir()
    Path("site/index.html").write_text("<p>")
    status, _, err = run("change", WISH, "--in", "site", "--model", write_replay())
    assert (status, "is not a Python project" in err) == (2, True)


def test_link_out_of_the_project_is_not_written_through(run: Run, shop: Path) -> None:
    outside = Path("outside.py")
    outside.write_text((shop / "src/shop/prices.py").read_text())
    (shop / "src/shop/prices.py").unlink()
    (shop / "src/shop/prices.py").symlink_to(outside.absolute())
    status, _, err = run("change", WISH, "--in", "shop", "--model", write_replay(), "--apply")
    assert status != 0, err
    assert "discount" not in outside.read_text()


def test_failed_commit_leaves_no_branch(run: Run, shop: Path) -> None:
    commit_all(shop)
    git(shop, "config", "user.useConfigOnly", "true")
    identity = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
    empty = {f"GIT_{name}": "" for name in identity}
    status, _, err = run(
        *("change", WISH, "--in", "shop", "--model", write_replay(), "--branch", "discount"),
        **empty,
    )
    assert (status, "git commit" in err) == (2, True), err
    assert git(shop, "branch", "--list", "discount") == ""


def test_tests_that_write_into_the_tree_change_only_a_copy(run: Run, shop: Path) -> None:
    (shop / "tests" / "test_writes.py").write_text(
        "from pathlib import Path\n\n\ndef test_writes():\n"
        "    Path('made.txt').write_text('x')\n"
        "    Path('src/shop/prices.py').write_text('broken')\n"
    )
    before = files_of(shop)
    status, out, err = run("change", WISH, "--in", "shop", "--model", write_replay())
    assert status == 0, err
    assert files_of(shop) == before
    assert "made.txt" not in out


def test_tree_of_too_many_files_is_refused(run: Run, shop: Path) -> None:
    (shop / "data").mkdir()
    for number in range(2100):
        (shop / "data" / f"{number}.txt").touch()
    status, _, err = run("change", WISH, "--in", "shop", "--model", write_replay())
    assert (status, "is too large for a sandbox" in err, "data/ (2100 files)" in err) == (
        *(2, True),
        True,
    )


@pytest.mark.parametrize(
    ("head", "tail", "why"),
    [(b"", b"# \xe4\n", "is not UTF-8 text"), (BOM_UTF8, b"", "has a byte order mark")],
)
def test_file_that_no_patch_can_change_is_not_changed(
    run: Run, shop: Path, head: bytes, tail: bytes, why: str
) -> None:
    prices = shop / "src/shop/prices.py"
    prices.write_bytes(head + prices.read_bytes() + tail)
    status, _, err = run("change", WISH, "--in", "shop", "--model", write_replay())
    assert (status, f"src/shop/prices.py cannot be changed, as it {why}" in err) == (2, True)


def test_wish_that_asks_for_no_change_ends_with_one_line(run: Run) -> None:
    plan = plan_answer(requirements=[], interface="", summary="The text only says hello.")
    status, _, err = run(
        "change", WISH, "--in", "shop", "--model", write_replay(plan_change=[plan])
    )
    assert (status, err.count("The text only says hello.")) == (2, 1), err
