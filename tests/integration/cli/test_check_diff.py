"""`check --diff`: the lines of a project that have changed since a commit."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.conftest import Run
from tests.support.change_responses import copy_shop
from tests.support.git import commit_all, files_of, git

PRICES = "src/shop/prices.py"
NEW_CODE = '''

def cheapest(nets: list[int], limit: int = 10) -> int:
    """Return the lowest price with tax."""
    if not nets:
        return -1
    return min(gross(net) for net in nets)
'''
NEW_TEST = """

def test_cheapest(tmp_path):
    from pathlib import Path
    from shop.prices import cheapest
    (Path(__file__).parent / "written.txt").write_text("x")
    assert cheapest([200, 100]) == 125
"""


@pytest.fixture
def shop() -> Path:
    """Copy the project, with a commit."""
    root = copy_shop(Path.cwd())
    commit_all(root)
    return root


def append(path: str, text: str) -> None:
    with open(Path("shop", path), "a") as file:
        file.write(text)


def report_of(out: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(out)
    return found


def test_only_changed_lines_are_graded_and_nothing_is_written(run: Run, shop: Path) -> None:
    append(PRICES, NEW_CODE)
    append("tests/test_prices.py", NEW_TEST)
    before = files_of(shop)
    summary = Path("summary.md")
    status, out, _ = run(
        "check", "--diff", "HEAD", "--in", "shop", "--json", "--quiet", "--markdown", str(summary)
    )
    report = report_of(out)
    assert (status, report["verdict"]) == (1, "passed"), report["reasons"]
    evidence = report["evidence"]
    assert evidence["coverage"]["missed_places"] == [f"{PRICES}:19"]
    assert evidence["coverage"]["missed_branches"] == [f"{PRICES}:18->19"]
    assert evidence["coverage"]["reached"] is False
    survived = {
        (item["path"], item["line"], item["reached"]) for item in evidence["mutation"]["survived"]
    }
    assert (PRICES, 19, False) in survived
    assert {item["id"].split(":")[1] for item in evidence["mutation"]["tried"]} <= set(
        "16 18 19 20".split()
    )
    assert evidence["mutation"]["killed"] >= 1
    assert evidence["empty_bodies"]["reached"]
    assert evidence["assertion_mutation"]["controlled"] == 1
    assert "test_cheapest" in report["test_code"]
    assert [item["path"] for item in report["change"]["files"]] == [PRICES, "tests/test_prices.py"]
    baseline = report["change"]["baseline"]
    assert baseline.pop("locked") == 6
    assert not any(baseline.values()), baseline
    assert files_of(shop) == before
    assert summary.read_text().startswith("<!-- greenloop check --diff -->\n## ○ passed")
    assert "prices.py:19: `" in summary.read_text()


def test_a_test_that_the_change_breaks_fails_and_one_that_was_red_is_named(
    run: Run, shop: Path
) -> None:
    append("tests/test_prices.py", "\n\ndef test_red():\n    assert total([]) == 1\n")
    git(shop, "commit", "-q", "-a", "-m", "red")
    append(PRICES, NEW_CODE)
    status, out, _ = run(
        "check", "--diff", "HEAD", "--in", "shop", "--quiet", GREENLOOP_MUTANTS="0"
    )
    assert status == 1, out
    told = "tests that also fail before the change, and do not count: 1: tests/test_prices.py::test_red"
    assert told in out
    code = (shop / PRICES).read_text()
    (shop / PRICES).write_text(code.replace("// 100", "// 101"))
    status, out, _ = run(
        "check", "--diff", "HEAD", "--in", "shop", "--json", "--quiet", GREENLOOP_MUTANTS="0"
    )
    report = report_of(out)
    assert (status, report["verdict"]) == (1, "failed")
    failed = {item["id"] for item in report["tests"] if item["outcome"] == "failed"}
    assert failed >= {"tests/test_prices.py::test_gross", "tests/test_prices.py::test_total"}
    assert "tests/test_prices.py::test_red" not in failed


def test_repository_without_a_commit_is_told_from_a_shallow_one(run: Run) -> None:
    Path("new").mkdir()
    git(Path("new"), "init", "-q")
    assert (
        "no such commit here: 'main'; make a first one"
        in run("check", "--diff", "main", "--in", "new")[2]
    )
    commit_all(copy_shop(Path.cwd()))
    told = "no such commit here: 'v1'; name a commit, a branch or a tag"
    assert told in run("check", "--diff", "v1", "--in", "shop")[2]
    append("src/shop/old.py", "x = 1\n")
    git(Path("shop"), "add", "-A")
    git(Path("shop"), "commit", "-q", "-m", "old")
    git(Path(), "clone", "-q", "--depth", "1", f"file://{Path('shop').absolute()}", "shallow")
    told = "no such commit here: 'HEAD~1'; this clone is shallow: run `git fetch --unshallow`"
    assert told in run("check", "--diff", "HEAD~1", "--in", "shallow")[2]
    git(Path("shop"), "commit", "-q", "--allow-empty", "-m", "newer")
    git(Path("shallow"), "fetch", "-q", "--depth", "1", "origin", "HEAD:newer")
    told = "where 'newer' and HEAD part is not known: this clone is shallow"
    assert told in run("check", "--diff", "newer", "--in", "shallow")[2]


def test_data_that_changed_with_the_code_excuses_no_failure(run: Run, shop: Path) -> None:
    (shop / "src/shop/rate.txt").write_text("5;x")
    read = "open(__file__.replace('prices.py', 'rate.txt')).read()"
    append(PRICES, f"\n\ndef rate():\n    return {read}.split(';')[0]\n")
    test = "from shop.prices import rate\n\n\ndef test_rate():\n    assert rate() == '5'\n"
    (shop / "tests/test_rate.py").write_text(test)
    commit_all(shop)
    (shop / "src/shop/rate.txt").write_text("6,x")
    (shop / PRICES).write_text((shop / PRICES).read_text().replace("split(';')", "split(',')"))
    status, out, _ = run("check", "--diff", "HEAD", "--in", "shop", "--quiet")
    assert (status, "does not pass: tests/test_rate.py::test_rate" in out) == (1, True)


def test_a_conftest_that_the_change_breaks_is_no_earlier_failure(run: Run, shop: Path) -> None:
    (shop / "tests/api").mkdir()
    (shop / "tests/api/conftest.py").write_text("from shop.prices import gross\n")
    (shop / "tests/api/test_api.py").write_text("def test_api():\n    pass\n")
    commit_all(shop)
    (shop / PRICES).write_text((shop / PRICES).read_text().replace("gross", "with_tax"))
    (shop / "tests/test_prices.py").write_text("def test_none():\n    pass\n")
    status, out, _ = run("check", "--diff", "HEAD", "--in", "shop", "--quiet")
    assert (status, "also fail before" in out) == (1, False)
    assert "tests/api" in out


def test_deleted_and_renamed_files_are_no_lines_to_grade(run: Run, shop: Path) -> None:
    append("src/shop/old.py", "x = 1\n")
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "old")
    (shop / "src/shop/old.py").unlink()
    append("tests/test_moved.py", (shop / "tests/test_prices.py").read_text())
    (shop / "tests/test_prices.py").unlink()
    status, out, _ = run(
        "check", "--diff", "HEAD", "--in", "shop", "--quiet", "--require", "verified"
    )
    assert status == 0
    assert "nothing to grade: no statement of code has changed since" in out
    assert " → greenloop check --all grades every module\n" in out
    assert "was removed" not in out


def test_docstrings_comments_and_documents_are_nothing_to_grade(run: Run, shop: Path) -> None:
    (shop / "README.md").write_text("More.\n")
    code = (shop / PRICES).read_text()
    (shop / PRICES).write_text(f"# A comment.\n{code.replace('Return the sum', 'Give the sum')}\n")
    call = ("check", "--diff", "HEAD", "--in", "shop", "--quiet", "--require", "verified")
    status, out, _ = run(*call, "--json")
    report = report_of(out)
    assert (status, report["verdict"]) == (0, "passed")
    assert report["reasons"] == [f"nothing to grade: {report['change']['nothing_to_grade']}"]
    append(PRICES, "\nLIMIT = 3\n")
    status, out, _ = run(*call)
    assert (status, "nothing to grade" in out) == (1, False)


def test_a_weak_new_test_is_graded_without_any_code(run: Run, shop: Path) -> None:
    call = ("check", "--diff", "HEAD", "--in", "shop", "--quiet", "--require", "verified")
    append("tests/test_prices.py", "\n\ndef test_none():\n    assert total([]) == 0\n")
    status, out, _ = run(*call)
    assert (status, "nothing to grade" in out) == (0, True), out
    append("tests/test_prices.py", "\n\ndef test_two():\n    return total([]) == 0\n")
    status, out, _ = run(*call)
    assert (status, "nothing to grade" in out) == (1, False), out
    assert "tests that return a value, which pytest ignores, and assert nothing: test_two" in out


def test_what_a_main_branch_has_done_since_is_no_change(run: Run, shop: Path) -> None:
    git(shop, "branch", "-q", "feature")
    append("tests/test_prices.py", "\n\ndef test_none():\n    assert total([]) == 0\n")
    append(PRICES, "\nLIMIT = 3\n")
    git(shop, "commit", "-q", "-a", "-m", "more")
    main = git(shop, "branch", "--show-current").strip()
    git(shop, "checkout", "-q", "feature")
    append("src/shop/rates.py", "\nOTHER = 3\n")
    git(shop, "commit", "-q", "-a", "-m", "other")
    _, out, _ = run(
        "check", "--diff", main, "--in", "shop", "--quiet", "--json", GREENLOOP_MUTANTS="0"
    )
    report = report_of(out)
    assert [item["path"] for item in report["change"]["files"]] == ["src/shop/rates.py"]
    assert report["change"]["base"] == git(shop, "rev-parse", "HEAD~1").strip()
    assert not [item for item in report["reasons"] if "removed" in item]


def test_removed_and_skipped_tests_are_named(run: Run, shop: Path) -> None:
    tests = (shop / "tests/test_prices.py").read_text()
    tests = tests.replace(
        "def test_total(", "import pytest\n\n\n@pytest.mark.skip\ndef test_total("
    )
    (shop / "tests/test_prices.py").write_text(tests.replace("def test_gross(", "def gross_is("))
    status, out, _ = run(
        "check", "--diff", "HEAD", "--in", "shop", "--quiet", "--require", "verified"
    )
    assert status == 1
    assert "tests/test_prices.py: test_gross was removed: " in out
    assert ": test_total may be skipped now" in out


def test_a_change_after_which_no_test_passes_fails(run: Run, shop: Path) -> None:
    append(PRICES, "\ndef (\n")
    status, out, err = run("check", "--diff", "HEAD", "--in", "shop", "--quiet")
    assert status == 1, err
    assert "src/shop/prices.py, line 15: SyntaxError: invalid syntax (Python" in out
    (shop / PRICES).unlink()
    status, out, err = run("check", "--diff", "HEAD", "--in", "shop", "--quiet")
    assert (status, "tests/test_prices.py" in out) == (1, True), err


def test_what_is_missing_is_named_with_its_remedy(run: Run, shop: Path) -> None:
    append(
        "tests/test_prices.py",
        "\n\ndef test_more():\n    import pytest\n    try:\n        import no_such_one\n"
        "    except ImportError:\n        pass\n    with pytest.raises(ImportError):\n"
        "        import no_such_two\n    import no_such_three\n",
    )
    append("pyproject.toml", "\n[tool.other]\nrequires-python = '>=99'\n")
    _, out, err = run("check", "--diff", "HEAD", "--in", "shop", GREENLOOP_MUTANTS="0")
    assert "modules that tests import but cannot find: no_such_three\n" in out
    assert "--install" not in err + out  # anybody may have published a package of that name
    assert "the project requires Python >=99, and its tests run in Python 3" in err
    append("tests/conftest.py", "\n\nimport no_such_module\n")
    append("pyproject.toml", "\n[dependency-groups]\ntest = ['no-such-module']\n")
    git(shop, "commit", "-q", "-a", "-m", "more")
    status, _, err = run("check", "--diff", "HEAD", "--in", "shop", "--quiet")
    assert (status, "; --install installs what the project declares;" in err) == (2, True), err
    (shop / "tests/conftest.py").write_text("import shop.absent\n")
    status, _, err = run("check", "--diff", "HEAD", "--in", "shop", "--quiet")
    assert (status, "--install," in err) == (2, False), err


def test_what_cannot_run_here_and_scripts_beside_the_code_are_named(run: Run, shop: Path) -> None:
    append("tests/test_prices.py", "\n\ndef test_speed(benchmark):\n    benchmark(total, [1])\n")
    (shop / "docs").mkdir()
    (shop / "docs" / "conf.py").write_text("release = '1'\n")
    (shop / "src" / "shop" / "broken.py").write_bytes(b"print \x00\xff '{{ name }}'\n")
    append(PRICES, "\nLIMIT = 3\n")
    status, out, _ = run("check", "--diff", "HEAD", "--in", "shop", "--quiet")
    assert status == 1
    assert (
        "not installed (--allow-package), and do not count: 1: tests/test_prices.py::test_speed"
        in out
    )
    assert "files that no test imports: docs/conf.py\n" in out
    assert "src/shop/prices.py:15  LIMIT = 3 → LIMIT = 4 " in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--in", "shop", "--diff", "nowhere"), "--diff: no such commit here: 'nowhere'"),
        (("--in", "shop", "--diff", "--output=x"), "--diff: no such commit here: '--output=x'"),
        (("--diff", "HEAD", "--in", "shop/docs"), "no Python files in shop/docs"),
        (("--diff", "HEAD", "--in", "/"), "a git repository is needed: / has none"),
        (("--diff", "HEAD", "--in", "none"), "--in none does not exist"),
        (("--diff", "HEAD", "shop"), "--diff grades all changed lines of a project"),
        (("shop",), "or grade every module of the folder: greenloop check --all shop"),
    ],
)
def test_bad_input_has_one_clear_line(
    run: Run, shop: Path, arguments: tuple[str, ...], message: str
) -> None:
    (shop / "docs").mkdir()
    (shop / "docs" / "a.md").write_text("text\n")
    status, out, err = run("check", *arguments, "--quiet")
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.strip().split("\n")) == 1


def test_a_suite_that_cannot_run_has_one_clear_line(run: Run, shop: Path) -> None:
    append("tests/conftest.py", "\n\nimport no_such_module\n")
    append("pyproject.toml", "\n[dependency-groups]\ntest = ['no-such-module']\n")
    git(shop, "commit", "-q", "-a", "-m", "broken")
    status, _, err = run("check", "--diff", "HEAD", "--in", "shop", "--quiet")
    assert status == 2
    assert "the project's tests cannot be run here: no test passes: tests/conftest.py" in err
    assert "no_such_module" in err


def test_classes_that_a_package_passes_on_are_known_in_isolation(run: Run, shop: Path) -> None:
    append("src/shop/errors.py", "class TooDearError(Exception):\n    pass\n")
    known = "from importlib.metadata import version\n__version__ = version('shop')\n"
    config = Path("shop/pyproject.toml")
    config.write_text(config.read_text().replace('testpaths = ["tests"]', ""))
    append("src/shop/__init__.py", f"{known}from .errors import *\nfrom .prices import afford\n")
    append(
        PRICES,
        "\n\ndef afford(net: int) -> int:\n    from shop.errors import TooDearError\n"
        "    if net > 9:\n        raise TooDearError(net)\n    return net\n",
    )
    Path("shop", "src/shop/test_afford.py").write_text(
        "import pytest\n\nfrom . import TooDearError, afford\n\n\n"
        "def test_afford():\n    assert afford(9) == 9\n"
        "    with pytest.raises(TooDearError):\n        afford(10)\n"
    )
    status, out, _ = run(
        "check", "--diff", "HEAD", "--in", "shop", "--json", "--quiet", GREENLOOP_MUTANTS="0"
    )
    isolated = report_of(out)["evidence"]["isolated"]
    assert (status, isolated["agreed"], isolated["not_observable"]) == (1, 1, [])


def test_a_module_that_tests_import_by_its_name_as_text_is_not_held_against_them(
    run: Run, shop: Path
) -> None:
    append(PRICES, "\n\ndef afford(net: int) -> int:\n    return net\n")
    Path("shop", "tests/test_afford.py").write_text(
        "import importlib\n\nprices = importlib.import_module('shop.prices')\n\n\n"
        "def test_afford():\n    assert prices.afford(9) == 9\n"
    )
    out = run(
        "check", "--diff", "HEAD", "--in", "shop", "--json", "--quiet", GREENLOOP_MUTANTS="0"
    )[1]
    report = report_of(out)
    (refused,) = report["evidence"]["isolated"]["not_observable"]
    assert refused["reason"] == "no import of the file names a module of the project"
    assert (refused["line"], report["evidence"]["isolated"]["observed"]) == (6, 0)
    assert not any("isolation" in reason for reason in report["reasons"])


def test_new_code_that_knows_only_the_examples_of_its_tests_is_not_verified(
    run: Run, shop: Path
) -> None:
    cases = {(3, 1, 2): 2, (4, 1, 3, 2): 2.5, (9, 7): 8}
    code = "".join(f"    if {list(key)} == values:\n        return {cases[key]}\n" for key in cases)
    asked = "".join(f"    assert median({list(key)}) == {cases[key]}\n" for key in cases)
    append(PRICES, f"\n\ndef median(values):\n{code}    return 0\n")
    append(
        "tests/test_prices.py",
        f"\n\ndef test_median():\n    from shop.prices import median\n{asked}",
    )
    report = report_of(run("check", "--diff", "HEAD", "--in", "shop", "--json", "--quiet")[1])
    assert report["evidence"]["memorization"]["functions"] == ["median"], report["reasons"]
