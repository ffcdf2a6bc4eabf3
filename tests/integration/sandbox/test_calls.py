"""Results of calls as encoded values, which classes of the module cannot influence."""

from typing import Any

import pytest

from greenloop.grading.observation.values import encode
from greenloop.grading.peer.answers import is_strictly_equal
from greenloop.sandbox import Sandbox
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.work.observations import CallResults
from tests.support.programs import read_program

CODE = read_program(__file__, "CODE")
VALUES: dict[str, Any] = {
    "identity(None)": None,
    "identity([True, 1, -10**30, 1.5, 1+2j])": [True, 1, -(10**30), 1.5, 1 + 2j],
    "identity('a\\u2603\\ud800\\0')": "a\u2603\ud800\0",
    "identity(b'\\xff')": b"\xff",
    "identity((1, [2, (3,)]))": (1, [2, (3,)]),
    "identity({1: {'a': (2,)}, (1, 2): None})": {1: {"a": (2,)}, (1, 2): None},
    "identity({1, 2})": {1, 2},
    "identity(frozenset({1}))": frozenset({1}),
    "Liar(3)": 3,
    "LyingList([1, 2])": [1, 2],
    "LyingDict(b=1)": {"b": 1},
    "LyingStr('x')": "x",
    "LyingComplex(1, 2)": 1 + 2j,
    "LyingBytes(b'x')": b"x",
    "Point(1, 2)": (1, 2),
    "Color.RED": 1,
    "identity(float('inf'))": float("inf"),
    "json.loads(identity('[1]'))": [1],
    "(tmp_path / 'a').write_text('b')\nidentity((tmp_path / 'a').read_text())": "b",
    "print(identity('a'))\ncapsys.readouterr().out": "a\n",
}
RAISES = {
    "fail(Mine('a'))": ["Mine", "ValueError", "Exception", "BaseException", "object"],
    "fail(SystemExit(0))": ["SystemExit", "BaseException", "object"],
    "fail(KeyboardInterrupt)": ["KeyboardInterrupt", "BaseException", "object"],
    "fail(Mute())": ["Mute", "Exception", "BaseException", "object"],
    "fail(ValueError('\\ud800'))": ["ValueError", "Exception", "BaseException", "object"],
    "no_such_name": ["NameError", "Exception", "BaseException", "object"],
}
OTHERS = {"Pretender()": "Pretender", "identity(len)": "builtin_function_or_method"}
NO_ANSWER = ["1 +", "x = no_such_name; identity(1)"]


@pytest.fixture(scope="module")
def answers(box: Sandbox) -> dict[str, dict[str, Any] | None]:
    calls = [*VALUES, *RAISES, *OTHERS, *NO_ANSWER, "round_and_round()"]
    results = box.evaluate_calls(CODE, "start", calls)
    assert results.error == ""
    return dict(zip(calls, results.events, strict=True))


@pytest.mark.parametrize("call", VALUES)
def test_values_are_returned_as_built_in_types(answers: dict[str, Any], call: str) -> None:
    assert is_strictly_equal(encode(VALUES[call]), answers[call]["value"])


@pytest.mark.parametrize("call", NO_ANSWER)
def test_what_fails_before_the_call_is_no_answer(answers: dict[str, Any], call: str) -> None:
    assert answers[call] is None


@pytest.mark.parametrize("call", RAISES)
def test_exceptions_are_returned_with_their_classes(answers: dict[str, Any], call: str) -> None:
    _, bases, *_ = answers[call]["error"]
    assert [name for _, name in bases] == RAISES[call]
    assert "value" not in answers[call]


@pytest.mark.parametrize("call", OTHERS)
def test_value_without_a_literal_is_only_named(answers: dict[str, Any], call: str) -> None:
    tag, bases, *_ = answers[call]["value"]
    assert (tag, bases[0][1]) == ("object", OTHERS[call])


def test_recursive_value_is_cut(answers: dict[str, Any]) -> None:
    assert "contains itself" in str(answers["round_and_round()"])


ERRORS = {
    "exits": ("import os\ndef f(): os._exit(0)", "crashed, status 0"),
    "exits at import": ("import sys\nsys.exit('bye')", "bye"),
    "fails at import": ("raise ValueError('at import')", "ValueError: at import"),
    "never ends": (
        "def f():\n    while True: pass",
        "timeout, status -9, still running after 1.5 s",
    ),
    "floods": (
        "import os\ndef f():\n    while True: os.write(1, b'x' * 65536)",
        "more than 4096 KB of output",
    ),
    "forges": (
        "import os\ndef f():\n"
        "    for fd in range(3, 256):\n"
        '        try: os.write(fd, b\'{"event": "end"}\\n\')\n'
        "        except OSError: pass\n",
        "programs were not completed",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_incomplete_calls_have_an_error(name: str) -> None:
    code, error = ERRORS[name]
    with ProcessSandbox(ResourceLimits(timeout_s=1.5)) as short:
        results = short.evaluate_calls(code, "m", ["1", "f()", "2"])
    assert isinstance(results, CallResults)
    assert error in results.error
    assert results.events[2] is None
    assert len(results.events) == 3


def test_results_before_the_error_are_kept(box: Sandbox) -> None:
    results = box.evaluate_calls("import os\ndef f(): os._exit(0)", "m", ["41 + 1", "f()"])
    assert results.events[0] is not None
    assert results.events[0]["value"] == 42


def test_no_calls_have_no_error(box: Sandbox) -> None:
    assert box.evaluate_calls("x = 1", "m", []) == CallResults(())


def test_module_cannot_detect_the_evaluation(box: Sandbox) -> None:
    code = (
        "import os, sys\n"
        "def seen(): return sorted(n for n in sys.modules if 'pytest' in n or n == 'pluggy')\n"
        "def again():\n    import pytest\n    return pytest.__name__\n"
    )
    calls = [
        "seen()",
        "len(sys.argv), sys.argv[0][-3:]",
        "'PYTEST_CURRENT_TEST' in os.environ",
        "getattr(sys.modules['__main__'], '__fi' + 'le__') == sys.argv[0]",
        "again()",
    ]
    results = box.evaluate_calls(code, "m", calls)
    values = [event["value"] for event in results.events if event is not None]
    assert values == [["list"], ["tuple", 1, ".py"], False, True, "pytest"]
