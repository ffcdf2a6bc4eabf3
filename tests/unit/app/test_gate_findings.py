"""What the gate names of a change without running it: examples as rules, and what documents say."""

import time
from collections.abc import Sequence
from typing import Any

import pytest

from greenloop.app.check_diff import _start, measure_tests
from greenloop.app.diff_tests import list_parts
from greenloop.app.gate.change import GateChange
from greenloop.app.gate.earlier_tests import list_reread, list_silent
from greenloop.app.gate.explanations import Explanations
from greenloop.app.gate.findings import collect_findings
from greenloop.app.gate.functions import ChangedFunctions, find_moved
from greenloop.app.gate.lost_data import list_lost_data
from greenloop.app.gate.special_cases import find_special_cases
from greenloop.app.tests_before import find_readers
from greenloop.project.diff import ProjectDiff
from greenloop.project.runner import NOT_FINISHED
from greenloop.project.tree import ProjectTree
from greenloop.project.weakening import WeakenedTest
from greenloop.project.weakening.comparison import Kind
from greenloop.project.weakening.configuration import find_loosened_configuration
from greenloop.project.weakening.configuration.collected_files import is_collected, list_patterns
from greenloop.project.weakening.doctests import EXAMPLE as GONE
from greenloop.records import (
    Baseline,
    BaselineResult,
    Change,
    Coverage,
    Evidence,
    InputFile,
    Mutation,
    Project,
    TestRun,
)
from greenloop.records.evidence.mutation import MutantResult, Survivor
from greenloop.settings import Settings
from greenloop.workflow.report_builder import build_report
from tests.support.programs import read_table

RULE = "def spell(text):\n    return text.replace('+', 'p')\n"
EXAMPLE = (
    "def spell(text):\n    if text == 'C++ & C':\n        return 'cpp-and-c'\n    return text\n"
)
TEST = "def test_spell():\n    assert spell('C++ & C') == 'cpp-and-c'\n"


def build_diff(
    code: str,
    before: str = "def spell(text):\n    return text\n",
    test: str = TEST,
    setting: str = "",
) -> ProjectDiff:
    files = {"names.py": code, "tests/test_names.py": test, "tox.ini": setting}
    inputs = (InputFile(path=path, content=text.encode()) for path, text in files.items())
    tree = ProjectTree("", Project(files=tuple(inputs)))
    return ProjectDiff(tree, "c", {"names.py": before, "tests/test_names.py": test})


@pytest.mark.parametrize(("path", "empty"), read_table(__file__, "DOCUMENTS"))
def test_a_change_of_documents_alone_is_not_run(path: str, empty: bool) -> None:
    tree = build_diff(RULE).tree
    tree.texts["pkg/__init__.py"] = ""
    assert GateChange(ProjectDiff(tree, "c", {path: ""}), (), "").is_empty is empty


@pytest.mark.parametrize(("code", "said", "count"), read_table(__file__, "EXAMPLES"))
def test_an_example_that_code_answers_by_itself_is_named(code: str, said: str, count: int) -> None:
    found = list(find_special_cases(build_diff(code), [said]))
    assert len(found) == count
    assert all(" has a branch for 'C++ & C' alone, which tests/" in item for item in found)


@pytest.mark.parametrize(("value", "answer", "count"), read_table(__file__, "NO_EXAMPLES"))
def test_a_code_or_word_is_no_example(value: str, answer: str, count: int) -> None:
    code = f"def spell(x):\n    if x == {value}:\n        return {answer}\n    return x\n"
    diff = build_diff(code, test=f"def test_spell():\n    assert spell({value}) == {answer}\n")
    assert len(list(find_special_cases(diff, []))) == count


@pytest.mark.parametrize(("line", "extended", "covers"), read_table(__file__, "EXPLAINED"))
def test_a_document_or_a_new_case_explains_a_test(line: str, extended: str, covers: bool) -> None:
    test = "tests/test_names.py::test_a"
    item = WeakenedTest(test, "expectation", "spell('a') == 'b'", "spell('a') == 'c'", was=test)
    diff, known = build_diff(RULE), BaselineResult(extended=(extended,))
    diff.before["tests/test_names.py"] = f"{TEST}\n\ndef test_a():\n    assert {item.before}\n"
    assert Explanations(diff, line.split("\n"), known).cover(item) is covers


def test_the_words_that_code_exchanges_explain_an_expectation_that_exchanges_them() -> None:
    before = "def spell(text):\n    raise KeyError(text)\n\ndef read():\n    raise ValueError\n"
    diff = build_diff(before.replace("KeyError", "ValueError"), before)
    kinds = ("KeyError", "ValueError"), ("KeyError", "TypeError"), ("OSError", "ValueError")
    items = (
        WeakenedTest("t.py::test_a", "expectation", *kind, was="t.py::test_a") for kind in kinds
    )
    assert [Explanations(diff, []).cover(item) for item in items] == [True, False, False]


@pytest.mark.parametrize(("kind", "text", "covers"), read_table(__file__, "WEAKER"))
def test_a_weaker_check_needs_a_new_one_of_its_call(kind: Kind, text: str, covers: bool) -> None:
    diff, test, check = build_diff(RULE), "tests/test_names.py::test_a", f"spell({text}) == 1"
    diff.before["tests/test_names.py"] = f"def test_a():\n    assert {check}\n"
    assert Explanations(diff, []).cover(WeakenedTest(test, kind, check, was=test)) is covers


@pytest.mark.parametrize(("line", "kind", "indifferent", "covers"), read_table(__file__, "WORDS"))
def test_only_words_that_tell_a_test_from_others_explain_it(
    line: str, kind: Kind, indifferent: bool, covers: bool
) -> None:
    tests = ["assert Cart().clear() == []"] * 3 + ["assert Cart().pop(1) == 1"]
    names = ["clear", "clear_twice", "clear_empty", "delete_missing"]
    both = zip(names, tests, strict=True)
    diff = build_diff(RULE, test="")
    text = "\n\n".join(f"def test_{name}():\n    {body}\n" for name, body in both)
    diff.before["tests/test_names.py"] = text
    test = "tests/test_names.py::test_delete_missing"
    known = BaselineResult(outdated=(test,), indifferent=(test,) * indifferent)
    texts = ("a.txt", "other") if kind == "data" else ("Cart().pop(1) == 1", "quietly(Cart())")
    item = WeakenedTest(test, kind, *texts, was=test)
    assert Explanations(diff, [line], known).cover(item) is covers


def test_a_test_that_is_gone_and_whose_check_fails_now_is_named() -> None:
    diff, test = build_diff(RULE, test=""), "tests/test_names.py::test_spell"
    diff.before["tests/test_names.py"] = TEST
    found = list(list_reread(BaselineResult(outdated=(test,), refuted=(test,)), (), diff))
    assert [(item.kind, item.was) for item in found] == [("rewritten", test)]
    assert not list(list_reread(BaselineResult(outdated=(test,)), (), diff))


@pytest.mark.parametrize(("cases", "added", "count"), read_table(__file__, "LOST_CASES"))
def test_lost_cases_are_missed_unless_a_new_test_has_them(
    cases: str, added: str, count: int
) -> None:
    test = f"@mark.parametrize('a', {cases})\ndef test_spell(a):\n    assert spell(a) == a\n"
    diff = build_diff(RULE, test=f"{test}\n\ndef test_new():\n    assert spell({added}) == ''\n")
    diff.before["tests/test_names.py"] = test
    known = BaselineResult(fewer={"tests/test_names.py::test_spell": 1})
    assert len([*list_silent(known, (), diff)]) == count


@pytest.mark.parametrize(("added", "count"), [("", 1), ("[2]", 0)])
def test_lost_cases_that_no_check_names_are_missed(added: str, count: int) -> None:
    text = (
        "@mark.parametrize('a', {})\ndef test_{}(a, box):\n    box.a = a\n    assert spell(box)\n"
    )
    diff = build_diff(RULE, test=text.format("[1]", "spell") + text.format(added or "[]", "new"))
    diff.before["tests/test_names.py"] = text.format("[1, 2]", "spell")
    known = BaselineResult(fewer={"tests/test_names.py::test_spell": 1})
    assert len([*list_silent(known, (), diff)]) == count


@pytest.mark.parametrize(("words", "count"), [("tiny tiny tiny", 0), ("tiny small large", 3)])
def test_a_word_that_changes_in_three_files_is_the_task(words: str, count: int) -> None:
    lost = [
        WeakenedTest(
            f"tests/test_{n}.py::test_a", "expectation", f"f({n}) == 'odd'", f"f({n}) == '{i} odd'"
        )
        for n, i in enumerate(words.split())
    ]
    assert len(collect_findings([], lost, None, build_diff(RULE), []).blocking) == count


def test_a_function_within_a_test_is_no_new_test_that_explains_it() -> None:
    test, body = "tests/test_names.py::test_spell", TEST.partition("\n")[2]
    nested = f"def test_spell():\n    async def compare():\n    {body}    compare().close()\n"
    diff = build_diff(RULE, test=nested)
    diff.before["tests/test_names.py"] = TEST
    lost = [WeakenedTest(test, "removed", f"spell({n})", was=test) for n in range(4)]
    assert not Explanations(diff, []).cover(lost[0])
    says = collect_findings([], lost, None, diff, []).blocking
    assert [", and 2 more like it" in item for item in says] == [False, True]


@pytest.mark.parametrize(("hook", "count"), [("", 0), ("def pytest_runtest_call(): ...", 1)])
def test_a_new_plug_in_is_named_if_it_has_hooks(hook: str, count: int) -> None:
    diff = build_diff(f"{RULE}{hook}\n")
    report = build_report(_start(diff, Settings())[1])
    baseline = BaselineResult(compared=("tests/test_names.py::test_spell",))
    change = Change(base="c", baseline=baseline)
    report = report.model_copy(update={"change": change, "reasons": ()})
    says = next(find_loosened_configuration({}, {"conftest.py": "pytest_plugins = ['names']"}))
    assert len(collect_findings([says], [], report, diff, []).blocking) == count


@pytest.mark.parametrize("setting", ["--doctest-modules", ""])
def test_an_example_of_a_docstring_is_one_where_it_runs(setting: str) -> None:
    example = '    """\n    >>> spell(\'C++ & C\')\n    \'cpp-and-c\'\n    """\n'
    code = EXAMPLE.replace("    if", f"{example}    if", 1)
    diff = build_diff(code, test="", setting=setting)
    assert bool(list(find_special_cases(diff, []))) is bool(setting)


@pytest.mark.parametrize("skipped", ["tests/test_names.py::test_spell[1]", ""])
def test_lines_for_another_machine_whose_tests_skip_here_may_be_untested(skipped: str) -> None:
    diff = build_diff(RULE)
    diff.before["tests/test_names.py"] = ""
    assert Explanations(diff, []).are_for_other_machines([skipped]) is bool(skipped)


@pytest.mark.parametrize(("line", "count"), [("- Names are spelled out.", 0), ("", 1)])
def test_a_document_explains_an_example_that_is_gone(line: str, count: int) -> None:
    test = f"names.py::spell::{GONE}"
    item = WeakenedTest(test, "fewer checks", "spell('a') == 'b'", was=test, is_replaced=True)
    assert len(collect_findings((), [item], None, build_diff(RULE), [line]).blocking) == count


@pytest.mark.parametrize(("after", "kind", "covers"), read_table(__file__, "NEW_TEXTS"))
def test_new_text_of_the_code_explains_an_expectation_that_has_it(
    after: str, kind: Kind, covers: bool
) -> None:
    diff = build_diff("def spell(text):\n    return '<b>' + text\n")
    checks = [f"spell('a') == '{text}'" for text in ("<i>a", after)]
    item = WeakenedTest("tests/test_names.py::test_a", kind, *checks)
    assert Explanations(diff, []).cover(item) is covers
    old = "def spell(text):\n    return '<b>' + text if text else text\n"  # has that text, too
    assert not Explanations(build_diff(diff.tree.texts["names.py"], old), []).cover(item)


@pytest.mark.parametrize(("helper", "served"), [("names", True), ("sums", False)])
def test_a_changed_file_of_helpers_serves_the_tests_that_name_it(helper: str, served: bool) -> None:
    diff = build_diff(RULE)
    diff.before[f"tests/{helper}.py"] = "CASES = [1]\n"
    assert ("tests/test_names.py" in find_readers(diff)) is served


@pytest.mark.parametrize(("table", "count"), [("[1]", 1), ("[1, 3]", 0), ("[]", 1), ("make()", 0)])
def test_cases_that_a_helper_file_lost_are_missed(table: str, count: int) -> None:
    diff = build_diff(RULE, test="from names_cases import CASES\n")
    diff.before["tests/names_cases.py"] = "CASES = [1, 2]\n"
    diff.tree.texts["tests/names_cases.py"] = f"CASES = {table}\n"
    known = BaselineResult(compared=("tests/test_names.py::test_spell",))
    assert len([*list_lost_data(known, diff)]) == count


@pytest.mark.parametrize(("path", "setting", "found"), read_table(__file__, "COLLECTED"))
def test_a_file_may_inherit_or_generate_its_tests(path: str, setting: str, found: bool) -> None:
    diff = build_diff(RULE, setting=f"[pytest]\n{setting}\n")
    assert is_collected(path, list_patterns(diff.tree)) is found


def test_functions_as_they_were_have_no_changed_lines() -> None:
    old = "@mark\ndef gone():\n    return 1\n\n\n@mark\ndef spell(text):\n    return text\n"
    diff = build_diff("@mark\ndef spell(text):\n    return text\n", old)
    assert diff.lines["names.py"] <= {0}  # before the first one


def test_a_suite_that_is_too_long_leaves_the_tests_of_the_change() -> None:
    class Runner:
        def measure_baseline(
            self, limit_s: float, only: Sequence[str] | None, *, once: bool
        ) -> Baseline:
            assert 0 < limit_s <= (60 if only else 30)
            return Baseline(problem="" if only else f"{NOT_FINISHED} in time", locked=("a",))

    runner: Any = Runner()
    diff = build_diff(RULE, test="def test_it(): ...  # names")
    runner.tree = diff.tree
    found = measure_tests(runner, diff, time.monotonic() + 60)
    assert (found[0].problem, found[2]) == ("", {})
    diff.before["tests/test_names.py"] = "def test_it(): wait()"
    runner.run = lambda *_, **__: TestRun.model_construct(ending="timeout")
    assert measure_tests(runner, diff, time.monotonic() + 60)[2] == {"unfinished": True}


@pytest.mark.parametrize(("lived", "line", "named"), read_table(__file__, "FAULTS"))
def test_faults_are_named_where_most_of_a_function_go_unnoticed(
    lived: int, line: str, named: int
) -> None:
    places: list[Any] = [{"id": f"a.py:{i}", "path": "a.py", "line": i + 2} for i in range(lived)]
    fault: Any = {"operator": "number", "reached": True}
    found = [Survivor.model_construct(**i, **fault) for i in places]
    ends = [(i, "survived") for i in places] + [(places[0], "killed")]
    tried = [MutantResult.model_construct(**i, outcome=outcome) for i, outcome in ends]
    mutation = Mutation.model_construct(survived=tuple(found), tried=tuple(tried), score=0.0)
    texts = {"a.py": f"def f(x):\n    {line}\n    y = x\n    return y < 2\n"}
    functions = ChangedFunctions(Evidence(mutation=mutation), texts)
    assert len(list(functions.list_survivors(""))) == named


@pytest.mark.parametrize(("run", "named"), [((), 1), (("a.py:2", "a.py:3"), 0)])
def test_lines_that_no_test_runs_are_named_where_they_are_most_of_a_function(
    run: tuple[str, ...], named: int
) -> None:
    text = "def f(x):\n    y = x\n    if y:\n        return 1\n"
    coverage = Coverage(line=0.7, branch=1, missed_places=("a.py:4",), tested_places=run)
    functions = ChangedFunctions(Evidence(coverage=coverage), {"a.py": text})
    assert len(list(functions.list_untested())) == named
    half = coverage.model_copy(update={"tested_places": ("a.py:3",)})
    for added in ((), ("a.py:1",)):
        functions = ChangedFunctions(Evidence(coverage=half), {"a.py": text}, (), added)
        assert bool(list(functions.list_untested())) is bool(added)
    killed = MutantResult.model_construct(id="a.py:4:7", line=4, outcome="killed")
    mutation = Mutation.model_construct(tried=(killed,), survived=(), score=1.0)
    evidence = Evidence(coverage=coverage, mutation=mutation)
    assert not list(ChangedFunctions(evidence, {"a.py": text}).list_untested())


def test_a_function_that_was_only_moved_needs_no_new_test() -> None:
    diff = build_diff(f"{RULE}\n\ndef new(x):\n    return x\n", before="")
    diff.before["old.py"] = RULE
    coverage = Coverage(line=0, branch=1, missed_places=("names.py:2", "names.py:6"))
    functions = ChangedFunctions(Evidence(coverage=coverage), diff.tree.texts, find_moved(diff))
    assert next(functions.list_untested()).startswith("no test runs names.py:6: ")
    assert functions.is_moved("names.py", 2)
    assert not functions.is_moved("names.py", 6)


@pytest.mark.parametrize(("settings", "near"), read_table(__file__, "FILE_NAMES"))
def test_a_test_file_that_pytest_does_not_find_by_its_name_is_not_run(
    settings: dict[str, str], near: list[str] | None
) -> None:
    files = {"names.py": RULE, "tests/names_checks.py": TEST, **settings}
    inputs = (InputFile(path=path, content=text.encode()) for path, text in files.items())
    before = {"names.py": EXAMPLE, "tests/names_checks.py": None, "tests/test_names.py": TEST}
    diff = ProjectDiff(ProjectTree("", Project(files=tuple(inputs))), "c", before)
    assert list_parts(diff)[-1] == near
