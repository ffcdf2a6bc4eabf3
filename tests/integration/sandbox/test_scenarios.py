"""Scenarios in the sandbox: the code answers in one process, the tests judge in another."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from greenloop.records import SandboxInfo
from greenloop.sandbox import Sandbox
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.work.scenarios import Observations, RowOutcome
from greenloop.testsuite import TestFile

NO_TABLES = "lambda: []"


def scenario_text(body: str, fixtures: str = "", head: str = "import m") -> str:
    """Return the text of one scenario without parameters."""
    names = ", ".join(fixtures.split())
    taken = f"({names},)" if names else "()"
    given = tuple(fixtures.split())
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return (
        f"{head}\ndef s({names}):\n{lines}\nscenarios = [(s, {given!r}, {NO_TABLES})]\n# {taken}\n"
    )


def judge_text(body: str, head: str = "") -> str:
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return f"{head}\ndef j():\n{lines}\njudges = [(j, {NO_TABLES})]\n"


def observe_scenario(box: Sandbox, code: str, body: str, fixtures: str = "") -> dict[int, Any]:
    """Return what one scenario observes, decoded, by number; it must end without an error."""
    result = box.observe_scenarios(textwrap.dedent(code), "m", scenario_text(body, fixtures))
    assert result.error == ""
    (row,) = result.rows
    assert (row.error, row.has_ended) == (None, True)
    return {number: json.loads(payload) for number, payload in row.observations}


def verdict(box: Sandbox, code: str, scenario: str, judge: str) -> RowOutcome:
    """Return the outcome of the only row."""
    observations = box.observe_scenarios(textwrap.dedent(code), "m", scenario)
    (found,) = box.judge_scenarios(judge, observations)
    return found


TABLES = """
import m
def s(x, y):
    observe__(1, lambda: m.add(x, y))
scenarios = [(s, (), lambda: [(("x",), [(1,), (2,)]), (("y",), [(10,), (20,), (30,)])]),
             (s, (), lambda: [(("x", "y"), [(5, 6)])])]
"""
TABLES_JUDGE = """
import pytest
def j(x, y, want):
    seen = take__(1)
    at__(40)
    assert seen() == want
judges = [(j, lambda: [(("x", "want"), [(1, 0), pytest.param(2, 0, id="two")]),
                       (("y",), [(10,), (20,), (30,)])]),
          (j, lambda: [(("x", "y", "want"), [(5, 6, 11)])])]
"""


def test_rows_are_numbered_alike_in_both_processes(box: Sandbox) -> None:
    """Of stacked tables the first changes slowest."""
    observations = box.observe_scenarios("def add(x, y): return x + y", "m", TABLES)
    assert [(row.scenario, row.row) for row in observations.rows] == [
        *((0, number) for number in range(6)),
        (1, 0),
    ]
    sums = [json.loads(row.observations[0][1])["value"] for row in observations.rows]
    assert sums == [11, 21, 31, 12, 22, 32, 11]
    outcomes = box.judge_scenarios(TABLES_JUDGE, observations)
    assert [item.outcome for item in outcomes] == ["differs"] * 6 + ["agrees"]
    assert {item.line for item in outcomes} == {40}
    assert [(item.scenario, item.row) for item in outcomes][-2:] == [(0, 5), (1, 0)]


def test_exceptions_are_judged_by_class_text_and_attributes(box: Sandbox) -> None:
    code = """
        class ParseError(ValueError):
            def __init__(self, line):
                super().__init__(f"bad line {line}")
                self.line = line
        def parse(text): raise ParseError(3)
        """
    scenario = scenario_text("observe__(1, lambda: 1)\nobserve__(2, lambda: m.parse('x'))")
    judge = """
        at__(5)
        caught = raised__((1, 2), {expected}, {match})
        at__(6)
        assert caught.value.line == {line} and str(caught.value) == "bad line 3"
        assert caught.type == m.ParseError and caught.match("bad")
        """
    head = "class m: ParseError = symbol__('m', 'ParseError')"

    def judge_line(
        expected: str = "m.ParseError", match: str = "'line [0-9]'", line: int = 3
    ) -> str:
        text = judge.format(expected=expected, match=match, line=line)
        return verdict(box, code, scenario, judge_text(text, head)).outcome

    assert judge_line() == "agrees"
    assert judge_line("(TypeError, ValueError)", "None") == "agrees"
    assert judge_line("TypeError") == "differs"
    assert judge_line(match="'other'") == "differs"
    assert judge_line(line=4) == "differs"


def test_value_is_no_exception_and_an_exception_no_value(box: Sandbox) -> None:
    code = "def f(): return 1\ndef g(): raise KeyError('k')"
    scenario = scenario_text("observe__(1, m.f)\nobserve__(2, m.g)")
    assert verdict(box, code, scenario, judge_text("raised__((1,))")).reason == "did not raise"
    wrong = verdict(box, code, scenario, judge_text("at__(7)\nassert take__(2)() == 1"))
    assert (wrong.outcome, wrong.line, wrong.reason) == ("differs", 7, "raised KeyError: 'k'")
    assert verdict(box, code, scenario, judge_text("completed__(2)")).outcome == "differs"
    assert verdict(box, code, scenario, judge_text("completed__(1)")).outcome == "agrees"
    assert verdict(box, code, scenario, judge_text("take__(9)\ntake__(1)")).outcome == "agrees"
    missing = verdict(box, code, scenario, judge_text("take__(9)()"))
    assert (missing.outcome, missing.reason) == ("differs", "no observation")


@pytest.mark.parametrize("bases", ["ValueError, TypeError", "KeyError, AttributeError"])
def test_exception_that_fits_many_expectations_does_not_count(box: Sandbox, bases: str) -> None:
    code = f"class E({bases}): pass\nE.__module__ = 'builtins'\ndef f(): raise E"
    found = verdict(box, code, scenario_text("observe__(1, m.f)"), judge_text("raised__((1,))"))
    assert found.outcome == "not observable"
    assert "unrelated exceptions" in found.reason


def test_warnings_are_observed_each_time(box: Sandbox) -> None:
    code = """
        import warnings
        def old():
            warnings.warn("old is deprecated", DeprecationWarning)
            return 5
        """
    scenario = scenario_text(
        "observe__(1, m.old)\nobserve__(1, m.old)\nobserve__(2, lambda: 1)",
        head="import m\nrecords_warnings = True",
    )
    judge = (
        "found = warned__((1,), {}, {})\nwarned__((1,), DeprecationWarning)\nassert len(found) == 2"
    )
    outcomes = {
        (kind, match): verdict(box, code, scenario, judge_text(judge.format(kind, match))).outcome
        for kind in ("Warning", "UserWarning")
        for match in ("'deprecated'", "'new'")
    }
    assert [key for key, found in outcomes.items() if found == "agrees"] == [
        ("Warning", "'deprecated'")
    ]
    none = verdict(box, code, scenario, judge_text("warned__((2,), Warning)"))
    assert none.reason == "no such warning"


def test_functions_are_applied_where_a_value_is_no_plain_data(box: Sandbox) -> None:
    code = """
        class Shelf:
            def __init__(self): self.items = [3, 1]
            def __len__(self): return 2
            def __iter__(self): return iter(self.items)
            def __str__(self): return "shelf"
            def __bool__(self): raise RuntimeError("no truth")
        def numbers():
            yield from (3, 1)
        def endless():
            while True: yield 1
        """
    body = """
        shelf = observe__(1, m.Shelf, "len", "str", "bool", "iterable")
        observe__(2, lambda: [2, 1], "len", "iterable")
        observe__(3, m.numbers, "iterable")
        observe__(4, m.endless, "iterable")
        """
    checks = """
        shelf, plain, numbers = take__(1), take__(2), take__(3)
        assert shelf("len") == 2 and shelf("str") == "shelf"
        assert shelf("iterable") == numbers("iterable") == [3, 1]
        assert plain("len") == 2 and plain("iterable") == [2, 1]
        """
    seen = observe_scenario(box, code, body)
    assert "applied" not in seen[2]
    scenario = scenario_text(body)
    assert verdict(box, code, scenario, judge_text(checks)).outcome == "agrees"
    assert verdict(box, code, scenario, judge_text("take__(1)('bool')")).outcome == "differs"
    endless = verdict(box, code, scenario, judge_text("take__(4)('iterable')"))
    assert (endless.outcome, endless.reason) == ("not observable", "too large")


def test_values_are_observed_at_once(box: Sandbox) -> None:
    """What the code changes later does not change what was seen."""
    code = "def grow(x): x.append(1); return x"
    seen = observe_scenario(
        box, code, "x = []\nobserve__(1, lambda: m.grow(x))\nobserve__(1, lambda: m.grow(x))"
    )
    scenario = scenario_text(
        "x = []\nobserve__(1, lambda: m.grow(x))\nobserve__(1, lambda: m.grow(x))"
    )
    judge = judge_text("assert take__(1)() == [1]\nassert take__(1)() == [1, 1]")
    assert seen[1] == {"value": ["list", 1, 1]}
    assert verdict(box, code, scenario, judge).outcome == "agrees"


def test_scenario_goes_on_after_an_exception(box: Sandbox) -> None:
    code = "def f(): raise OSError(2, 'gone')\ndef g(): return 1"
    body = """
        x = observe__(1, m.f)
        for item in x:
            item.y
        with x as y:
            y.z[3](4)
        observe__(2, lambda: x)
        observe__(3, m.g)
        """
    judge = judge_text(
        "e = raised__((1, 2), OSError).value\nassert e.errno == 2\nassert take__(3)() == 1"
    )
    assert verdict(box, code, scenario_text(body), judge).outcome == "agrees"
    unavailable = verdict(box, code, scenario_text(body), judge_text("take__(2)()"))
    assert unavailable.outcome == "differs"


def test_async_scenarios(box: Sandbox) -> None:
    code = """
        import asyncio
        async def double(x):
            await asyncio.sleep(0)
            return x * 2
        async def fail(): raise ValueError("late")
        """
    scenario = """
import m
async def s():
    await observe_awaited__(1, lambda: m.double(4))
    await observe_awaited__(2, lambda: m.fail())
scenarios = [(s, (), lambda: [])]
"""
    judge = judge_text("assert take__(1)() == 8\nraised__((2,), ValueError, 'late')")
    assert verdict(box, code, scenario, judge).outcome == "agrees"


def test_parts_of_objects_are_changed(box: Sandbox) -> None:
    scenario = scenario_text("""
        box = observe__(1, m.Box)
        observe__(2, lambda: operators__.setitem(box, len(box), "x"))
        observe__(3, lambda: box)
        """)
    found = verdict(
        box, "class Box(dict): pass", scenario, judge_text("assert take__(3)() == {0: 'x'}")
    )
    assert found.outcome == "agrees"


FIXTURES_CODE = """
import logging, os, sys, warnings
LIMIT = 3
SETTINGS = {"a": 1}
class Service:
    @staticmethod
    def name(): return "real"
def limit(): return LIMIT
def home(): return os.environ.get("HOME_OF_M", "none")
def say():
    print("out")
    print("err", file=sys.stderr)
def log():
    logging.getLogger("m").warning("careful %d", 5)
    logging.getLogger("m").info("quiet")
def save(path): (path / "x.txt").write_text("saved")
def warn(): warnings.warn("hm", UserWarning)
"""


def test_stand_in_for_tmp_path(box: Sandbox) -> None:
    body = """
        observe__(1, lambda: m.save(tmp_path))
        observe__(2, lambda: (tmp_path / "x.txt").read_text())
        """
    seen = observe_scenario(box, FIXTURES_CODE, body, "tmp_path")
    assert [item["value"] for item in seen.values()] == [None, "saved"]


def test_stand_in_for_monkeypatch(box: Sandbox) -> None:
    body = """
        def look(number):
            observe__(number, lambda: [m.limit(), m.home(), m.Service.name(), sorted(m.SETTINGS.items())])
        monkeypatch.setattr(m, "LIMIT", 5)
        monkeypatch.setattr("m.Service.name", staticmethod(lambda: "fake"))
        monkeypatch.setattr(m, "missing", 1, raising=False)
        monkeypatch.setenv("HOME_OF_M", 7)
        monkeypatch.setitem(m.SETTINGS, "b", 2)
        monkeypatch.delitem(m.SETTINGS, "a")
        look(1)
        monkeypatch.setattr(m, "LIMIT", 6)
        monkeypatch.delenv("HOME_OF_M")
        monkeypatch.delattr(m, "missing")
        look(2)
        monkeypatch.undo()
        look(3)
        observe__(4, lambda: monkeypatch.setattr(m, "no_such_name", 1))
        observe__(5, lambda: hasattr(m, "missing"))
        """
    seen = observe_scenario(box, FIXTURES_CODE, body, "monkeypatch")
    patched = ["list", 5, "7", "fake", ["list", ["tuple", "b", 2]]]
    assert seen[1]["value"] == patched
    assert seen[2]["value"] == ["list", 6, "none", *patched[3:]]
    assert seen[3]["value"] == ["list", 3, "none", "real", ["list", ["tuple", "a", 1]]]
    assert seen[4]["error"][1][0][1] == "AttributeError"
    assert seen[5]["value"] is False


def test_patches_of_what_the_runner_needs_do_not_disturb_it(box: Sandbox) -> None:
    body = """
        import asyncio, builtins, json, os, tempfile, warnings
        for owner, name in ((os, "getpid"), (os, "write"), (json, "dumps"), (builtins, "open"),
                            (json.encoder, "c_make_encoder"), (warnings, "catch_warnings"),
                            (os.path, "join"), (tempfile, "gettempdir"), (asyncio, "run")):
            monkeypatch.setattr(owner, name, None)
        observe__(1, m.limit)
        observe__(2, lambda: {"a": [1.5, (2,)]}, "len")
        observe__(3, lambda: 1 / 0)
        """
    seen = observe_scenario(box, FIXTURES_CODE, body, "monkeypatch")
    assert seen[1]["value"] == 3
    assert seen[3]["error"][2] == "division by zero"
    assert seen[2]["value"][0] == "dict"


def test_stand_in_for_captured_output(box: Sandbox) -> None:
    body = """
        observe__(1, m.say)
        observe__(2, lambda: capsys.readouterr())
        print("more")
        observe__(3, lambda: capsys.readouterr().out)
        """
    seen = observe_scenario(box, FIXTURES_CODE, body, "capsys")
    assert seen[2]["value"][3] == ["tuple", "out\n", "err\n"]
    assert seen[3]["value"] == "more\n"


def test_stand_in_for_caplog(box: Sandbox) -> None:
    body = """
        observe__(1, m.log)
        observe__(2, lambda: (caplog.record_tuples, caplog.messages, "careful 5" in caplog.text))
        observe__(3, lambda: caplog.clear())
        with caplog.at_level("INFO", logger="m"):
            observe__(4, m.log)
        observe__(5, lambda: [r.levelname for r in caplog.records])
        """
    seen = observe_scenario(box, FIXTURES_CODE, body, "caplog")
    record = ["tuple", "m", 30, "careful 5"]
    assert seen[2]["value"] == ["tuple", ["list", record], ["list", "careful 5"], True]
    assert seen[5]["value"] == ["list", "WARNING", "INFO"]


def test_test_records_warnings_itself(box: Sandbox) -> None:
    body = """
        import warnings
        with warnings.catch_warnings(record=True) as found:
            observe__(1, m.warn)
        observe__(2, lambda: [str(item.message) for item in found])
        observe__(3, m.warn)
        observe__(4, lambda: capsys.readouterr().err)
        """
    seen = observe_scenario(box, FIXTURES_CODE, body, "capsys")
    assert [seen[number]["value"] for number in (2, 4)] == [["list", "hm"], ""]


def test_state_of_one_row_is_undone_before_the_next(box: Sandbox) -> None:
    scenario = """
import os, sys, m
def s(monkeypatch, capsys, tmp_path):
    observe__(1, lambda: (m.limit(), sorted(os.listdir(tmp_path)), os.getcwd() == str(tmp_path)))
    monkeypatch.setattr(m, "LIMIT", 9)
    monkeypatch.chdir(tmp_path)
    m.save(tmp_path)
scenarios = [(s, ("monkeypatch", "capsys", "tmp_path"), lambda: [(("x",), [(1,)])][:0])] * 2
"""
    observations = box.observe_scenarios(FIXTURES_CODE, "m", scenario)
    payloads = [row.observations[0][1] for row in observations.rows]
    assert [json.loads(item)["value"] for item in payloads] == [["tuple", 3, ["list"], False]] * 2


HOSTILE = {
    "exits": ("import os\ndef f(): os._exit(0)", "the code ended its process"),
    "raises SystemExit": ("def f(): raise SystemExit(0)", "raised SystemExit: 0"),
    "never ends": ("def f():\n    while True: pass", "the code ended its process"),
    "floods": (
        "import os\ndef f():\n    while True: os.write(1, b'x' * 65536)",
        "the code ended its process",
    ),
    "forks": ("import os\ndef f(): return 5 if os.fork() else 4", "5 is not 4"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_code_that_does_not_answer_differs(name: str) -> None:
    code, reason = HOSTILE[name]
    scenario = scenario_text("observe__(1, lambda: 7)\nobserve__(2, m.f)")
    judge = judge_text(
        "assert take__(1)() == 7\nat__(3)\ngot = take__(2)()\nassert got == 4, f'{got} is not 4'"
    )
    with ProcessSandbox(ResourceLimits(timeout_s=3)) as short:
        observations = short.observe_scenarios(code, "m", scenario + "scenarios *= 2\n")
        outcomes = short.judge_scenarios(judge + "judges *= 2\n", observations)
    assert {item.outcome for item in outcomes} == {"differs"}
    assert outcomes[0].reason == reason
    assert (observations.error == "") == (outcomes[1].reason != "the code did not come so far")


def test_events_that_the_guest_does_not_send_end_the_report(box: Sandbox) -> None:
    """Code may find the key in the memory of its process, and write what it likes."""
    code = """
        import gc
        def f():
            for item in gc.get_objects():
                if type(item).__name__ == "Channel":
                    item.send("observed", number="x", payload=[])
        """
    observations = box.observe_scenarios(
        textwrap.dedent(code), "m", scenario_text("observe__(1, lambda: 1)\nobserve__(2, m.f)")
    )
    assert observations.error == "the report of the scenarios is invalid"


@pytest.mark.parametrize(
    ("code", "reason"),
    [("raise ValueError('at import')", "ValueError: at import"), ("def f(:", "SyntaxError")],
)
def test_code_that_cannot_be_imported_has_no_rows(box: Sandbox, code: str, reason: str) -> None:
    observations = box.observe_scenarios(code, "m", scenario_text("observe__(1, m.f)"))
    assert observations.rows == ()
    assert reason in observations.error
    (outcome,) = box.judge_scenarios(judge_text("take__(1)"), observations)
    assert (outcome.outcome, outcome.reason) == ("differs", "the code did not come so far")


def test_code_sees_neither_pytest_nor_tests(box: Sandbox) -> None:
    code = """
        import os, sys
        def seen():
            found = {*sys.modules} & {"pytest", "_pytest", "pluggy", "json", "inspect", "difflib"}
            program = sys.modules["__main__"].__file__
            files = {*os.listdir(".")} - {os.path.basename(program)}
            return [sorted(found), sys.argv == [program], os.path.getsize(program), sorted(files)]
        """
    value = ["list", ["list"], True, 0, ["list", "m.py"]]
    assert observe_scenario(box, code, "observe__(1, m.seen)")[1]["value"] == value


def test_judge_has_the_files_of_the_tests_and_no_code(box: Sandbox) -> None:
    judge = judge_text(
        "import os\nassert sorted(os.listdir()) == ['expected.py']\nimport expected\n"
    )
    observations = box.observe_scenarios("x = 1", "m", scenario_text("observe__(1, lambda: m.x)"))
    files = [TestFile("expected.py", "y = 2\n")]
    (outcome,) = box.judge_scenarios(judge, observations, files)
    assert (outcome.outcome, outcome.reason) == ("agrees", "")


def test_row_that_ends_with_an_error_never_agrees(box: Sandbox) -> None:
    scenario = scenario_text("observe__(1, lambda: 1)\nm.broken()")
    found = verdict(box, "def broken(): raise KeyError('k')", scenario, judge_text("take__(1)()"))
    assert (found.outcome, found.reason) == ("differs", "KeyError: 'k'")


def test_what_the_judge_cannot_evaluate_is_not_observable(box: Sandbox) -> None:
    scenario = scenario_text("observe__(1, lambda: m.thing)")
    code = "class T:\n    __eq__ = lambda self, other: True\nthing = T()"
    found = verdict(box, code, scenario, judge_text("at__(3)\nassert take__(1)() == 5"))
    assert (found.outcome, found.line) == ("not observable", 3)
    assert "its own equality of an object of T" in found.reason
    found = verdict(box, code, scenario, judge_text("at__(4)\nassert take__(1)()[0]"))
    assert (found.outcome, found.line) == ("not observable", 4)
    assert "TypeError" in found.reason


def test_files_beside_a_test_have_the_same_path(box: Sandbox) -> None:
    scenario = scenario_text("observe__(1, lambda: __file__)")
    observations = box.observe_scenarios("x = 1", "m", scenario)
    (outcome,) = box.judge_scenarios(
        judge_text("assert take__(1)()[-12:] == __file__[-12:]"), observations
    )
    assert outcome.outcome == "agrees"


def test_classes_of_a_test_are_the_same_in_both_processes(box: Sandbox) -> None:
    code = "def call(function): return function()"
    body = """
        class Special(Exception): pass
        def fail(): raise Special("mine")
        observe__(1, lambda: m.call(fail))
        """
    judge = judge_text("class Special(Exception): pass\nraised__((1,), Special, 'mine')")
    assert verdict(box, code, scenario_text(body), judge).outcome == "agrees"


def test_row_whose_text_shows_a_stand_in_does_not_end_the_judge(box: Sandbox) -> None:
    code = "class T: pass\ndef f(): return T()"
    scenario = scenario_text("observe__(1, m.f)")
    reasons = {}
    for statement in (
        "{}[take__(1)()]",
        "assert False, take__(1)()",
        "raise ValueError(take__(1)())",
    ):
        found = verdict(box, code, scenario, judge_text(statement))
        reasons[found.reason] = found.outcome
    assert reasons == {
        "KeyError: ": "not observable",
        "": "differs",
        "ValueError: ": "not observable",
    }


def test_tables_that_cannot_be_built_are_told_by_the_first_row(box: Sandbox) -> None:
    observations = box.observe_scenarios("def add(x, y): return x + y", "m", TABLES)
    judge = TABLES_JUDGE.replace("lambda: [(", "lambda: 1 / 0 and [(", 1)
    outcomes = box.judge_scenarios(judge, observations)
    assert [(item.scenario, item.row, item.outcome) for item in outcomes] == [
        (0, 0, "not observable"),
        (1, 0, "agrees"),
    ]


def test_too_large_values_are_not_observable_and_the_rest_is(box: Sandbox) -> None:
    body = "observe__(1, lambda: 'x' * m.SIZE)\nobserve__(2, lambda: [0] * m.SIZE, 'len')\nobserve__(3, lambda: 1)"
    found = verdict(box, "SIZE = 1 << 22", scenario_text(body), judge_text("take__(1)()"))
    assert (found.outcome, found.reason) == ("not observable", "too large")
    judge = judge_text("assert take__(2)('len') == 1 << 22 and take__(3)() == 1")
    assert verdict(box, "SIZE = 1 << 22", scenario_text(body), judge).outcome == "agrees"


def test_observations_are_bounded_in_all(box: Sandbox) -> None:
    body = "for _ in range(100):\n    observe__(1, lambda: '\"' * 200_000)\nobserve__(2, lambda: 5)"
    observations = box.observe_scenarios("x = 1", "m", scenario_text(body))
    assert observations.error == ""
    (row,) = observations.rows
    assert len(row.observations) == 101
    assert sum(len(payload) for _, payload in row.observations) < 6 << 20
    assert "too large" in row.observations[-1][1]


def test_colliding_hashes_cost_only_the_judge_its_time(box: Sandbox) -> None:
    """The set of n numbers of one hash is built in n² steps."""
    code = "def f(): return {n * ((1 << 61) - 1) for n in range(1, 6000)}"
    body = "observe__(1, m.f)\nobserve__(2, lambda: 1)"
    observations = box.observe_scenarios(code, "m", scenario_text(body, head="import m"))
    assert observations.error == ""
    judge = judge_text("assert len(take__(1)()) == 5999") + "judges *= 2\n"
    with ProcessSandbox(ResourceLimits(timeout_s=60)) as patient:
        outcomes = patient.judge_scenarios(judge, observations)
    assert [item.outcome for item in outcomes] == ["agrees", "differs"]


def test_rows_after_the_end_of_the_judge_are_not_observable(box: Sandbox) -> None:
    observations = box.observe_scenarios("def add(x, y): return x + y", "m", TABLES)
    judge = TABLES_JUDGE.replace("at__(40)", "at__(40)\n    import os\n    y == 20 and os._exit(3)")
    outcomes = box.judge_scenarios(judge, observations)
    assert [item.outcome for item in outcomes] == ["differs"] + ["not observable"] * 6
    assert "judgement were not completed" in outcomes[-1].reason
    broken = box.judge_scenarios("1 +", observations)
    assert {item.outcome for item in broken} == {"not observable"}
    assert len(broken) == 7
    forged = TABLES_JUDGE.replace(
        "at__(40)", "at__(40)\n    at__.__self__._send('judged', scenario='x')"
    )
    assert {item.outcome for item in box.judge_scenarios(forged, observations)} == set()


TESTS = """
import m
STATE = m.STATE
def test_first():
    STATE.append("tested")
    assert m.STATE == ["tested"]
def test_red():
    assert m.STATE == []
"""


def test_scenarios_run_beside_the_tests(box: Sandbox) -> None:
    """After them, in their process, on the same module object."""
    code = "import sys\nSTATE = []\ndef has_pytest(): return 'pytest' in sys.modules"
    scenario = scenario_text("observe__(1, lambda: m.STATE)\nobserve__(2, m.has_pytest)")
    seen: list[Sequence[Any]] = []
    for beside in ((), (TestFile("test_m.py", TESTS),)):
        observations = box.observe_scenarios(code, "m", scenario, beside=beside)
        assert observations.error == ""
        (row,) = observations.rows
        seen.append([json.loads(payload)["value"] for _, payload in row.observations])
    assert seen == [[["list"], False], [["list", "tested"], True]]


def test_time_limit_is_that_of_the_call(box: Sandbox) -> None:
    observations = box.observe_scenarios(
        "def f():\n    while True: pass", "m", scenario_text("observe__(1, m.f)"), timeout_s=1.5
    )
    assert isinstance(box.info, SandboxInfo)
    assert isinstance(observations, Observations)
    assert "still running after 1.5 s" in observations.error


REPLACING = """
import pathlib
def f():
    return 1
def lie():
    pathlib.Path.read_text = lambda path: "expected"
"""


@pytest.mark.parametrize(("call", "outcome"), [("m.f()", "agrees"), ("m.lie()", "not observable")])
def test_what_is_seen_through_a_replaced_library_is_not_observable(
    box: Sandbox, call: str, outcome: str
) -> None:
    scenario = scenario_text(f"observe__(1, lambda: {call})")
    found = verdict(box, REPLACING, scenario, judge_text("completed__(1)"))
    assert found.outcome == outcome
    assert ("replaces Path.read_text" in found.reason) == (outcome == "not observable")


def test_an_import_gives_a_hidden_module_as_it_is(box: Sandbox) -> None:
    code = """
        import decimal, json, sys
        from concurrent.futures import ThreadPoolExecutor
        def seen():
            with ThreadPoolExecutor(1) as pool:
                total = pool.submit(decimal.Decimal, "1.5").result()
            return [total, json.__spec__.name, json.dumps([1]), "json" in sys.modules]
        """
    value = ["list", ["Decimal", "1.5"], "json", "[1]", True]
    assert observe_scenario(box, code, "observe__(1, m.seen)")[1]["value"] == value


def test_code_finds_itself_called_as_by_a_program(box: Sandbox) -> None:
    code = """
        import sys, warnings
        def seen():
            caller = sys._getframe(1).f_code
            return [caller.co_name, __import__("__main__").__name__, warnings.filters[0][0]]
        """
    found = observe_scenario(box, code, "observe__(1, lambda: m.seen())")[1]["value"]
    assert found == ["list", "<module>", "__main__", "default"]


def test_the_program_shows_nothing_of_what_observes_it(box: Sandbox) -> None:
    code = """
        import __main__, sys
        at_import = sorted(vars(__main__))
        def seen():
            names = {name for name in vars(__main__) if not name.startswith("__")}
            is_program = sys.orig_argv[1:] == [__main__.__file__]
            return [at_import, sorted(names), is_program, sys.stdout.write_through]
        """
    found = observe_scenario(box, code, "observe__(1, lambda: m.seen())")[1]["value"]
    plain = "annotations builtins cached doc file loader name package spec".split()
    assert found[1] == ["list", *(f"__{name}__" for name in plain)]
    assert found[2:] == [["list", "m"], True, False]


def test_the_process_is_like_that_of_a_program(box: Sandbox, tmp_path: Path) -> None:
    """What code reads of it is what the same interpreter shows when it is started with a file."""
    code = """
        import builtins, os, signal, sys
        def depth(n=0):
            try:
                return depth(n + 1)
            except RecursionError:
                return n
        def seen():
            streams = [
                [type(getattr(item.buffer, "raw", 0)).__name__, item.name, item.line_buffering,
                 item.errors, item.write_through, item.mode]
                for item in (sys.stdin, sys.stdout, sys.stderr)
            ]
            interrupt = signal.getsignal(signal.SIGINT) is signal.default_int_handler
            usual = sorted(item for item in vars(sys.modules["__main__"]) if item[:2] == "__")
            return repr([streams, interrupt, sorted(vars(builtins)), depth() in range(967, 998), usual])
        """
    (tmp_path / "m.py").write_text(textwrap.dedent(code), "utf-8")
    (tmp_path / "p.py").write_text("import m\nprint(m.seen())\n", "utf-8")
    command, environment = [sys.executable, "-B", "p.py"], {"LANG": "C.UTF-8"}
    expected = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        check=True,
    ).stdout.strip()
    assert observe_scenario(box, code, "observe__(1, lambda: m.seen())")[1]["value"] == expected


def test_the_depth_of_recursion_is_that_of_a_call_from_some_function_of_a_program(
    box: Sandbox,
) -> None:
    code = """
        def depth(n=0):
            try:
                return depth(n + 1)
            except RecursionError:
                return n
        """
    body = "observe__(1, lambda: m.depth())"
    depths = {observe_scenario(box, code, body)[1]["value"] for _ in range(8)}
    assert len(depths) > 1
    assert depths <= set(range(968, 999))


@pytest.mark.parametrize(
    ("look", "what"),
    [
        ("open('/pr' + 'oc/self/status').close()", "/proc/self/status"),
        ("os.listdir(os.sep)", "/"),
        ("os.listdir(os.path.expanduser('~'))", "the home folder"),
        ("next(os.scandir(os.path.relpath('/proc')))", "/proc"),
        ("getattr(os.sys, '_get' + 'frame')()", "its callers"),
        ("getattr(importlib.import_module('g' + 'c'), 'get_objects')()", "all objects"),
        ("socket.create_connection(('192.0.2.1', 9), 0.1)", "the network"),
        ("socket.gethostbyname('name.invalid')", "the network"),
        ("os.path.exists(os.sep + 'srv')", "/srv"),
        ("pathlib.Path(chr(47), 'home', 'x').is_dir()", "/home/x"),
        ("list(map(os.path.getmtime, '.'))", "the working folder"),
        ("os.access(os.getcwd(), 2)", "the working folder"),
        ("pathlib.Path.cwd().stat().st_uid", "the working folder"),
        ("shutil.copystat('.', 'x')", "the working folder"),
        ("realpath()", "the working folder"),
        ("os.fstat(1)", "its standard streams"),
        ("subprocess.run(['i' + 'd'], stdout=-3)", "the program id"),
        ("subprocess.run(['observe__'], executable='/bin/id', stdout=-3)", "the program id"),
        ("os.popen('mount | head').read()", "the program sh"),
        ("os.system('ps')", "the program ps"),
        ("show_error()", "its callers"),
    ],
)
def test_what_code_looks_at_is_noted(box: Sandbox, look: str, what: str) -> None:
    """Whatever names it finds the function by, and from there on: it may remember what it saw."""
    code = f"""
        import importlib, os, pathlib, shutil, socket, subprocess, traceback
        __name__ = "posixpath"
        def realpath(): os.stat(".")
        def show_error():
            try:
                os.stat("missing")
            except OSError:
                return traceback.format_exc()
        def look():
            try:
                {look}
            except OSError:
                pass
            return 1
        def plain(): return 2
        """
    source = textwrap.dedent(code)
    for function, looked in (("look", what), ("plain", "")):
        text = scenario_text(f"observe__(1, m.{function})")
        assert [row.looked for row in box.observe_scenarios(source, "m", text).rows] == [looked]


def test_ordinary_code_looks_at_nothing(box: Sandbox) -> None:
    code = """
        import asyncio, collections, glob, logging, mimetypes, os, pathlib, shutil, socket, subprocess
        import tempfile, threading, zoneinfo
        async def echo():
            async def answer(reader, writer):
                writer.write(await reader.readline())
                writer.close()
            server = await asyncio.start_server(answer, "127.0.0.1", 0)
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(b"a\\n")
            return (await reader.readline()).decode()
        def work(given):
            Pair = collections.namedtuple("Pair", "a b")
            logging.getLogger("x").warning("seen")
            with tempfile.TemporaryDirectory() as folder:
                os.listdir(folder), os.listdir(".")
                os.makedirs(os.path.abspath("new")), pathlib.Path(folder).resolve()
                os.stat(folder), os.path.isfile("x"), os.path.exists("/usr"), shutil.which("sh")
                mimetypes.guess_type("a.txt"), zoneinfo.ZoneInfo("UTC"), shutil.rmtree("new")
                subprocess.run(["true", given])
                before = os.getcwd()
                os.chdir(folder), os.stat("."), os.chdir(before)
                list(pathlib.Path(".").glob("*.py")), list(pathlib.Path().rglob("*")), glob.glob("*/*")
                open(os.path.join(folder, "x"), "w").close()
            thread = threading.Thread(target=Pair, args=(1, 2))
            thread.start(), thread.join()
            try:
                return asyncio.run(echo())
            except (OSError, IndexError):  # landlock has no network
                return "a\\n"
        """
    text = scenario_text("observe__(1, lambda: m.work('true'))")
    (row,) = box.observe_scenarios(textwrap.dedent(code), "m", text).rows
    assert (row.error, row.looked) == (None, "")


def test_folders_have_names_of_temporary_ones(box: Sandbox) -> None:
    code = "def name_of(path): return path.name\n"
    text = scenario_text("observe__(1, lambda: m.name_of(tmp_path))", "tmp_path")
    rows = [box.observe_scenarios(code, "m", text).rows[0] for _ in range(2)]
    first, second = (json.loads(row.observations[0][1])["value"] for row in rows)
    assert re.fullmatch(r"tmp[a-z0-9_]{8}", first)
    assert first == second
