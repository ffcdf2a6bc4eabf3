"""Held-out examples: exact types, nine digits, and answers of the guest that are malformed."""

from collections.abc import Sequence
from typing import Any

import pytest

from greenloop.grading.context import GradingContext
from greenloop.grading.held_out_examples import measure
from greenloop.grading.observation.values import encode
from greenloop.grading.peer.answers import is_strictly_equal
from greenloop.records import HeldOut, HeldOutExample, TestRun, Thresholds
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.work.observations import Observations, ObservedRow, evaluate_calls

NAN = float("nan")


@pytest.mark.parametrize(
    ("expected", "got", "equal"),
    [
        (1, 1, True),
        (1, True, False),
        (1, 1.0, False),
        (None, None, True),
        (None, 0, False),
        (0.3, 0.1 + 0.2, True),
        (0.3, 0.3001, False),
        (NAN, NAN, True),
        (NAN, 1.0, False),
        (float("inf"), float("inf"), True),
        ([1, [0.3]], [1, [0.1 + 0.2]], True),
        ([1], (1,), False),
        ([1], [True], False),
        ([1, 2], [1], False),
        ({"a": [1]}, {"a": [1]}, True),
        ({"a": 1}, {"a": True}, False),
        ({1: "a"}, {True: "a"}, False),
        ({"a": 1}, {"b": 1}, False),
        ({1, 2}, {2, 1}, True),
        ({1}, {True}, False),
        ({(1,)}, {(1.0,)}, False),
        ({1}, frozenset({1}), False),
        (1 + 2j, 1 + 2j, True),
        ("a", "a", True),
        ("a", b"a", False),
    ],
)
def test_equality_is_of_value_and_exact_type_at_every_level(
    expected: Any, got: Any, equal: bool
) -> None:
    assert is_strictly_equal(encode(expected), encode(got)) is equal


class Scripted:
    """A sandbox in which the code gives fixed payloads."""

    evaluate_calls = evaluate_calls

    def __init__(self, *payloads: str) -> None:
        self._payloads = payloads

    def observe(self, *_: object, **__: object) -> Observations:
        rows = [
            ObservedRow(number, 0, ((0, payload),), has_ended=True)
            for number, payload in enumerate(self._payloads)
        ]
        return Observations(tuple(rows))


def check_examples(
    box: Any, code: str, examples: Sequence[HeldOutExample]
) -> tuple[HeldOut, tuple[HeldOutExample, ...]]:
    """Return the evidence and the examples that fail."""
    context = GradingContext(box, code, [], "m", TestRun.model_construct(), held_out=examples)
    found = measure(context)
    assert found is not None
    return found, context.disagreements


FORGED = (
    "",
    "{}",
    "null",
    "[1]",
    '{"value": ["int"]}',
    '{"value": ["int", "zz"]}',
    '{"value": [["int"], "0x1"]}',
    '{"value": ["float", "0x1p99999"]}',
    '{"value": ["set", ["list"]]}',
    '{"value": ["dict", 5]}',
    '{"value": ["object", [["m", "AlwaysEqual"]], "own", {}, []]}',
    '{"error": 5}',
    '{"error": ["exception", [], "", {}]}',
    "[" * 100_000,
)


def test_malformed_answers_disagree() -> None:
    for example in (
        HeldOutExample(call="f()", returns="1"),
        HeldOutExample(call="f()", raises="ValueError"),
    ):
        examples = [example] * len(FORGED)
        result, wrong = check_examples(Scripted(*FORGED), "f = 1", examples)
        assert (result.agreed, list(wrong)) == (0, examples)


INVALID = [
    HeldOutExample(call="f(", returns="1"),
    HeldOutExample(call="x = 1", returns="1"),
    HeldOutExample(call="f()\nx = 1", returns="1"),
    HeldOutExample(call="", returns="1"),
    HeldOutExample(call="f()", returns="g()"),
    HeldOutExample(call="f()", returns="(" * 10_000),
    HeldOutExample(call="f()\0", returns="1"),
    HeldOutExample(call="f(helper(1))", returns="1"),
]


def test_examples_that_cannot_be_parsed_do_not_count() -> None:
    result, wrong = check_examples(None, "f = 1", INVALID)
    assert (result.reached, result.total, result.agreed, wrong) == (False, 0, 0, ())
    assert len(result.invalid) == len(INVALID)


def test_the_code_never_sees_expected_values(box: ProcessSandbox) -> None:
    code = (
        "import os\n"
        "SEEN = open('/proc/self/cmdline').read() + str(os.environ) + str(os.listdir('..'))\n"
        "class Own(ValueError): pass\n"
        "class Equal:\n"
        "    def __eq__(self, other): return True\n"
        "def third(n): return n / 3\n"
        "async def later(n): return n\n"
        "def fail(): raise Own\n"
        "def anything(): return Equal()\n"
        "def looks(text): return text in SEEN\n"
    )
    agree = [
        HeldOutExample(call="third(1)", returns="0.3333333333"),
        HeldOutExample(call="asyncio.run(later(1))", returns="1"),
        HeldOutExample(call="fail()", raises="ValueError"),
        HeldOutExample(call="fail()", raises="m.Own"),
        HeldOutExample(call="looks('314159')", returns="False"),
    ]
    disagree = [
        HeldOutExample(call="anything()", returns="1"),
        HeldOutExample(call="third(3)", returns="1"),
        HeldOutExample(call="third(3)", raises="ValueError"),
        HeldOutExample(call="fail()", returns="314159"),
        HeldOutExample(call="fail()", raises="TypeError"),
    ]
    result, wrong = check_examples(box, code, [*agree, *disagree, INVALID[0]])
    assert list(wrong) == disagree
    assert (result.total, result.agreed, result.reached) == (10, 5, False)
    assert result.disagreed == tuple(item.call for item in disagree)
    assert result.invalid == ("f(",)


def test_calls_after_the_end_of_the_process_disagree(box: ProcessSandbox) -> None:
    examples = [
        HeldOutExample(call="f(1)", returns="1"),
        HeldOutExample(call="f(0)", returns="0"),
        HeldOutExample(call="f(2)", returns="2"),
    ]
    code = "import os\ndef f(n): return n or os._exit(0)"
    result, wrong = check_examples(box, code, examples)
    assert (result.agreed, list(wrong)) == (1, examples[1:])


def test_fewer_than_four_examples_are_as_none(box: ProcessSandbox) -> None:
    examples = [HeldOutExample(call=f"double({n})", returns=str(2 * n)) for n in range(4)]
    code = "def double(n):\n    return 2 * n\n"
    assert check_examples(box, code, examples)[0].reached
    found, failing = check_examples(box, code, examples[:3])
    assert (found.reached, found.agreed, failing) == (False, 3, ())
    assert list(found.unmet(Thresholds())) == [
        "held-out examples: 3 can be used, 3 of them with values (at least 4, half of them with values)"
    ]


def test_a_sequence_of_calls_is_judged_by_its_last(box: ProcessSandbox) -> None:
    code = (
        "class Stack:\n"
        "    def __init__(self): self.items = []\n"
        "    def push(self, item):\n"
        "        if item is None: raise ValueError\n"
        "        self.items.append(item)\n"
        "    def pop(self): return self.items.pop()\n"
    )
    built = "s = Stack()\ns.push(1)\ns.push(2)\n"
    agree = [
        HeldOutExample(call=f"{built}s.pop()", returns="2"),
        HeldOutExample(call=f"{built}s.pop()\ns.pop()", returns="1"),
        HeldOutExample(call="s = Stack(); s.pop()", raises="IndexError"),
        HeldOutExample(call="s = Stack()\nfor n in range(3): s.push(n)\nlen(s.items)", returns="3"),
    ]
    disagree = [
        HeldOutExample(call=f"{built}s.pop()", returns="1"),
        HeldOutExample(call="s = Stack()\ns.push(None)\ns.pop()", raises="ValueError"),
    ]
    result, wrong = check_examples(box, code, [*agree, *disagree])
    assert (list(wrong), result.agreed, result.invalid) == (disagree, 4, ())
