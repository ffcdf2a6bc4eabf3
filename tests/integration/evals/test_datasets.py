"""Dataset formats: what the specification says, and whether hidden tests detect wrong code."""

import asyncio
import gzip
import json
import shutil
from pathlib import Path

import pytest

from greenloop.dependencies import PackageResolver
from greenloop.errors import InputError
from greenloop.evals.datasets.loader import TaskSource
from greenloop.evals.hidden_tests import (
    HiddenTestsOutcome,
    TaskSandboxFactory,
    outcome_from_run,
    run_hidden_tests,
)
from greenloop.evals.task import EvalTask
from greenloop.records import Failure, Frame, TestRun
from greenloop.sandbox import Sandbox
from tests.integration.evals.conftest import DATA
from tests.support.programs import read_table


def tasks(name: str) -> dict[str, EvalTask]:
    return {task.id: task for task in TaskSource(DATA / name)}


def truth(box: Sandbox, task: EvalTask, code: str) -> HiddenTestsOutcome:
    return asyncio.run(run_hidden_tests(task, code, TaskSandboxFactory(box, PackageResolver())))


def test_a_solution_that_needs_its_tests_fails(box: Sandbox) -> None:
    task = tasks("own.jsonl")["initials"]
    assert truth(box, task, task.solution).isolated > 0
    forged = f"{task.solution}\nimport sys\nif 'pytest' not in sys.modules:\n    initials = str\n"
    outcome = truth(box, task, forged)
    assert (outcome.truth, outcome.isolated) == ("failed", 0)
    assert outcome.reason.endswith("passes only in the process of the tests")


# By task: required text, forbidden text, and the change that makes the solution wrong.
CASES: dict[str, list[str]] = read_table(__file__, "CASES")


@pytest.mark.parametrize("case", CASES)
def test_task_of_each_format(box: Sandbox, case: str) -> None:
    file, id = case.split()
    required, secret, right, wrong = CASES[case]
    task = tasks(file)[id]
    assert required in task.spec
    assert secret not in task.spec
    assert task.solution.strip().splitlines()[-1].strip() not in task.spec
    found = truth(box, task, task.solution)
    assert (found.truth, found.reason) == ("passed", "")
    assert right in task.solution
    assert truth(box, task, task.solution.replace(right, wrong)).truth == "failed"


def test_floats_are_compared_with_tolerance(box: Sandbox) -> None:
    task = tasks("evalplus.jsonl")["HumanEval/9000"]
    near = task.solution.replace("total / 3", "total * 0.33333333333")
    assert truth(box, task, near).truth == "passed"
    assert truth(box, task, near.replace("0.33333333333", "0.3333")).truth == "failed"


def test_alternative_answers_of_evalplus_are_accepted(box: Sandbox) -> None:
    line = json.loads((DATA / "evalplus.jsonl").read_text().splitlines()[1])
    line |= {
        "task_id": "Mbpp/581",
        "entry_point": "surface_Area",
        "canonical_solution": "\ndef surface_Area(edge, slant):\n    return edge * (edge + 2 * slant)\n",
        "base_input": [[6, 4]],
        "plus_input": [],
    }
    Path("two.jsonl").write_text(json.dumps(line))
    (task,) = TaskSource(Path("two.jsonl"))
    for answer, expected in ((84, "passed"), (96, "passed"), (95, "failed")):
        code = f"def surface_Area(edge, other):\n    return {answer}\n"
        assert truth(box, task, code).truth == expected


def test_additional_script_of_mbpp_is_run(box: Sandbox) -> None:
    line = json.loads((DATA / "mbpp.jsonl").read_text().splitlines()[0])
    line["test"] = (
        "def assertion(found, wanted):\n    assert found == wanted\n\n\n"
        "inputs, results = [[[1, 5], 5], [[7], 6]], [[], [7]]\n"
        "for inp, exp in zip(inputs, results):\n    assertion(coins_left(*inp), exp)\n"
    )
    Path("more.jsonl").write_text(json.dumps(line))
    (task,) = TaskSource(Path("more.jsonl"))
    assert truth(box, task, task.solution).truth == "passed"
    memorized = "def coins_left(coins, price):\n    return [5, 12] if price == 4 else []\n"
    assert truth(box, task, memorized).reason.startswith("test_more: AssertionError")


def test_failing_reference_solution_gives_an_unknown_result(box: Sandbox) -> None:
    line = json.loads((DATA / "evalplus.jsonl").read_text().splitlines()[0])
    line["base_input"] = [["no number"]]
    Path("odd.jsonl").write_text(json.dumps(line))
    (task,) = TaskSource(Path("odd.jsonl"))
    found = truth(box, task, "def thirds(total):\n    return []\n")
    assert found.truth == "unknown"
    assert "the task's own solution: TypeError" in found.reason


def test_reference_solution_that_times_out_gives_an_unknown_result() -> None:
    task = tasks("evalplus.jsonl")["HumanEval/9000"]
    name = "_answers_of_the_task"
    assert f"def {name}(" in task.tests[0].code
    files = [item.to_test_file() for item in task.tests]
    location = {"test": "t::test_base", "phase": "call", "exception": "Timeout", "message": "30 s"}
    for function, expected in ((name, "unknown"), ("_check", "failed")):
        frame = Frame(file=task.tests[0].name, line=1, function=function, text="…")
        failure = Failure.model_validate({**location, "frames": (frame,)})
        assert (
            outcome_from_run(files, TestRun(ending="timeout", failures=(failure,))).truth
            == expected
        )


def test_numbers_with_many_digits(box: Sandbox) -> None:
    text = (DATA / "evalplus.jsonl").read_text().splitlines()[1]
    Path("long.jsonl").write_text(text.replace("[[0], [0]]", f"[[1{'0' * 5000}], [0]]"))
    (task,) = TaskSource(Path("long.jsonl"))
    assert truth(box, task, task.solution).truth == "passed"


def test_code_cannot_skip_hidden_tests(box: Sandbox) -> None:
    task = tasks("own.jsonl")["median-of-three"]
    for trick in (
        "import os\nos._exit(0)\n",
        "import pytest\npytest.skip('x', allow_module_level=True)\n",
    ):
        assert truth(box, task, trick + task.solution).truth == "failed"
    skipping = task.solution.replace("    return", "    import pytest; pytest.skip()\n    return")
    assert truth(box, task, skipping).truth == "failed"
    assert truth(box, task, "").reason == "there is no code"


def test_gzip_and_requested_formats() -> None:
    text = (DATA / "humaneval.jsonl").read_bytes()
    for name in ("tasks.jsonl.gz", "named.otherwise"):
        Path(name).write_bytes(gzip.compress(text))
        source = TaskSource(Path(name), "humaneval")
        assert [task.id for task in source] == ["Own/0", "Own/1"]
    Path("unpacked.jsonl.gz").write_bytes(text)
    assert TaskSource(Path("unpacked.jsonl.gz")).format == "humaneval"
    Path("cut.jsonl.gz").write_bytes(gzip.compress(text)[:200])
    Path("broken.jsonl.gz").write_bytes(b"\x1f\x8b no gzip")
    for name in ("cut", "broken"):
        with pytest.raises(InputError, match=rf"{name}\.jsonl\.gz cannot be read"):
            list(TaskSource(Path(f"{name}.jsonl.gz")))


def test_byte_order_mark_and_line_endings() -> None:
    lines = (DATA / "humaneval.jsonl").read_bytes().splitlines()
    array = b"[" + b",\n".join(lines) + b"]"
    for text in (b"\r\n".join(lines), b"\n\n".join(lines), array, b" \n" + array):
        Path("tasks.jsonl").write_bytes(b"\xef\xbb\xbf" + text)
        assert [task.id for task in TaskSource(Path("tasks.jsonl"))] == ["Own/0", "Own/1"]


def test_folder_of_one_exercise() -> None:
    (task,) = TaskSource(DATA / "exercises" / "counting-sheep")
    assert task.id == "counting-sheep"
    assert "shepherd counts aloud" in task.spec
    assert "nothing to count" in task.spec  # instructions.append.md


def test_introduction_of_concept_exercises_is_left_out() -> None:
    shutil.copytree(DATA / "exercises", "exercises")
    for name in ("kitchen-timer", "counting-sheep"):
        Path(f"exercises/{name}/.docs/introduction.md").write_text("Once upon a time")
    specs = {task.id: task.spec for task in TaskSource(Path("exercises"))}
    assert "Once" in specs["counting-sheep"]
    assert "Once" not in specs["kitchen-timer"]  # its exemplar marks a concept exercise


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"files": {"solution": ["a.py", "b.py"], "test": ["t.py"]}}, "must name one .py file"),
        ({"files": {"solution": ["a.py"], "test": ["../t.py"]}}, "only .py files beside them"),
        ({"files": {"solution": ["a.py"], "test": []}}, "not the config of an exercise"),
        ({"files": {"solution": ["../../a.py"], "test": ["t.py"]}}, "is outside the exercise"),
        ({}, "not the config of an exercise"),
    ],
)
def test_invalid_exercise_can_be_left_out(change: object, message: str) -> None:
    shutil.copytree(DATA / "exercises", "exercises")
    Path("a.py").write_text("")
    config = Path("exercises/kitchen-timer/.meta/config.json")
    config.write_text(json.dumps(change))
    with pytest.raises(InputError, match=r"exercises/kitchen-timer") as error:
        list(TaskSource(Path("exercises")))
    assert message in str(error.value)
    rest = TaskSource(Path("exercises"), leave_out=frozenset({"kitchen-timer"}))
    assert [task.id for task in rest] == ["counting-sheep"]
