"""What prompts of a change show of files, and which tests."""

import ast

from greenloop.records import Baseline
from greenloop.tools.shown_project import read_tests
from greenloop.workflow.change.shown.files import show_files
from greenloop.workflow.change.shown.tests import select_style_files, select_tests


def _write_function(name: str, line: str = "pass") -> str:
    return f"def {name}():\n" + f"    {line}\n" * 9 + "\n\n"


DOC = '"""Prices.\n\n' + "A line about prices.\n" * 30 + '"""\n'
TABLE = "TABLE = [\n" + "    1,\n" * 20 + "]\n\n\n"
SOURCE = (
    DOC
    + "# Copyright\n" * 8
    + TABLE
    + _write_function("total")
    + _write_function("caller", "total()")
    + _write_function("other")
)


def test_documentation_and_tables_are_left_out_before_bodies() -> None:
    (shown,) = show_files({"a.py": SOURCE}, ["a.py"], "caller", limit=700)
    assert (shown.left_out, shown.text.count("lines are left out")) == (0, 3)
    assert ast.parse(SOURCE)
    assert shown.text.count("total()") == 10
    (whole,) = show_files({"a.py": SOURCE}, ["a.py"], "caller")
    assert whole.text == SOURCE


def test_touched_bodies_stay_and_their_readers_go_last() -> None:
    (shown,) = show_files({"a.py": SOURCE}, ["a.py"], "x", limit=400, touches=["a.total"])
    assert shown.left_out == 1
    assert "def other():\n    ...  # 9 lines are left out" in shown.text
    (shown,) = show_files({"a.py": SOURCE}, ["a.py"], "x", limit=1, touches=["a.total"])
    assert shown.left_out == 2
    assert _write_function("total").rstrip() in shown.text


def test_style_files_are_those_of_the_touched_module() -> None:
    texts = {
        "tests/test_cache.py": "# total total total\n",
        "tests/test_tables.py": "import shop\n\n\n" + _write_function("test_old", "x" * 90) * 9,
        "tests/test_z.py": "total\n",
    }
    kept = ["tests/test_z.py::test_a"]
    touches = ["shop.table.total"]
    shown = select_style_files(texts, touches, kept)
    assert [item.path for item in shown] == ["tests/test_tables.py", "tests/test_z.py"]
    assert shown[0].text.startswith("import shop")
    assert shown[0].text.count("def test_old") == 9


def test_tests_are_chosen_by_rare_words_of_the_wish() -> None:
    code = "def test_a():\n    assert parse('create')\n\n\n"
    code += "def test_b():\n    assert parse()\n\n\ndef test_c():\n    assert parse(1)\n"
    ids = tuple(f"test_x.py::test_{name}" for name in "abc")
    baseline = Baseline(locked=ids, reached={"a.py": {1: "7"}})
    shown, more = select_tests({"test_x.py": code}, baseline, ["a.py"], "parse creates a table")
    assert [item.id for item in shown] == ["test_x.py::test_a"]
    assert more == 2


def test_tests_that_are_replaced_are_shown_whole() -> None:
    code = "import m\n\n\n@m.mark(1)\ndef test_a(x):\n    assert x\n\n\ndef test_b(): ...\n"
    (shown,) = read_tests({"t.py": code}, {"t.py::test_a"})
    assert shown.source.strip() == "@m.mark(1)\ndef test_a(x):\n    assert x"


def test_a_handler_without_a_name_is_no_definition() -> None:
    handler = "try:\n    import tomllib\nexcept ImportError:\n    tomllib = None\n\n\n"
    (shown,) = show_files({"a.py": handler + SOURCE}, ["a.py"], "caller", limit=700)
    assert "caller" in str(shown)
