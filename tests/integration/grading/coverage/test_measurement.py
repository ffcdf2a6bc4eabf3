"""Coverage of a run in the sandbox, and the reasons why it could not be measured."""

from greenloop.grading.context import GradingContext, Plan
from greenloop.grading.coverage import measurement
from greenloop.records import Coverage, Thresholds
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile

CODE = "def f(n):\n    if n > 0:\n        return 'more'\n    return 'less'\n"
HALF = "from m import f\n\n\ndef test_a():\n    assert f(1) == 'more'\n"


def measure(box: Sandbox, code: str, tests: str, **limits: float) -> Coverage | str:
    files = [TestFile("test_m.py", tests)]
    first_run = box.run_tests(code, files, module="m")
    assert first_run.passed, first_run
    plan = Plan(Thresholds(**limits))
    return measurement.measure(GradingContext(box, code, files, "m", first_run, plan))


def test_lines_and_branches_that_are_not_reached_are_named(warm: Sandbox) -> None:
    found = measure(warm, CODE, HALF)
    assert found == Coverage(
        reached=False,
        line=0.75,
        branch=0.5,
        missed_lines=(4,),
        missed_branches=("2->4",),
        statements=(1, 2, 3, 4),
    )


def test_the_thresholds_decide(warm: Sandbox) -> None:
    found = measure(warm, CODE, HALF, line_coverage=0.75, branch_coverage=0.5)
    assert isinstance(found, Coverage)
    assert found.reached
    for limits in ({"line_coverage": 0.76}, {"branch_coverage": 0.51}):
        found = measure(warm, CODE, HALF, **{"line_coverage": 0, "branch_coverage": 0, **limits})
        assert isinstance(found, Coverage)
        assert not found.reached


def test_coverage_of_a_long_module_is_reported_in_parts(warm: Sandbox) -> None:
    code = "def f(n):\n" + "".join(f"    n += {i}\n" for i in range(5000)) + "    return n\n"
    tests = "from m import f\n\n\ndef test_a():\n    assert f(0) > 0\n"
    every = tuple(range(1, 5003))
    assert measure(warm, code, tests) == Coverage(line=1.0, branch=1.0, statements=every)


def test_code_that_reads_its_file_finds_it_as_it_is(warm: Sandbox) -> None:
    code = "def f():\n    return open(__file__).read().count('_reached')\n"
    tests = "from m import f\n\n\ndef test_a():\n    assert f() == 1\n"
    assert measure(warm, code, tests) == Coverage(line=1.0, branch=1.0, statements=(1, 2))


def test_code_that_reads_its_instructions_is_not_measured(warm: Sandbox) -> None:
    code = "def f():\n    return len(f.__code__.co_names)\n"
    tests = "from m import f\n\n\ndef test_a():\n    assert f() == 4\n"
    assert measure(warm, code, tests) == "the outcomes differ on instrumented code"
