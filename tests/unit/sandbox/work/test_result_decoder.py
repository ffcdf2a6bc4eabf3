"""The result channel may be forged: only a valid report passes."""

import json
from typing import Any

import pytest

from greenloop.records import Ending, Expectation, TestRun
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.result_decoder import build_test_run as read_run
from greenloop.sandbox.work.result_decoder import decode_events
from tests.support.programs import read_table

A, B = "test_m.py::test_a", "test_m.py::test_b"
COLLECTED = {"event": "collected", "ids": [A, B]}
PASSED_A = {"event": "test", "id": A, "outcome": "passed", "duration_s": 0.1}
PASSED_B = {**PASSED_A, "id": B}
END = {"event": "end", "exit_status": 0}
FAILURE = {
    "event": "failure",
    "id": A,
    "phase": "call",
    "exception": "ValueError",
    "message": "no",
    "frames": [],
    "output": "",
}
HONEST = [COLLECTED, PASSED_A, PASSED_B, END]
BOTH = Expectation(ids=frozenset({A, B}))


def lines(*parts: Any) -> bytes:
    texts = (item if isinstance(item, bytes) else json.dumps(item).encode() for item in parts)
    return b"".join(b"key " + text + b"\n" for text in texts)


def read(
    result: bytes,
    *,
    status: int = 0,
    ending: Ending = "finished",
    expected: Expectation | None = BOTH,
) -> TestRun:
    process_result = ProcessResult(ending, status, b"said", result, 1.5)
    return read_run(process_result, expected, "key", ResourceLimits(), {})


def test_valid_report_passes_with_and_without_expectation() -> None:
    for expected in (BOTH, None):
        run = read(lines(*HONEST), expected=expected)
        assert run.passed
        assert (run.exit_status, run.output, run.duration_s) == (0, "said", 1.5)
        assert [(item.id, item.outcome, item.duration_s) for item in run.tests] == [
            (A, "passed", 0.1),
            (B, "passed", 0.1),
        ]


FORGED: dict[str, tuple[Any, ...]] = {
    "a test twice": (COLLECTED, PASSED_A, PASSED_A, PASSED_B, END),
    "the end twice": (*HONEST, END),
    "a test after the end": (COLLECTED, PASSED_A, END, PASSED_B),
    "garbage after the end": (*HONEST, b"more"),
    "garbage before the end": (COLLECTED, PASSED_A, PASSED_B, b"\xff\xfe", END),
    "an empty line": (COLLECTED, PASSED_A, PASSED_B, b"", END),
    "a line that is no object": (*HONEST, [1]),
    "an unknown event": (*HONEST[:3], {"event": "verdict", "passed": True}, END),
    "an event without a kind": (*HONEST[:3], {}, END),
    "an unknown outcome": (COLLECTED, {**PASSED_A, "outcome": "great"}, PASSED_B, END),
    "a missing key": (COLLECTED, {"event": "test", "id": A}, PASSED_B, END),
    "a key too many": (*HONEST[:3], {**FAILURE, "extra": 1}, END),
    "an id that is no text": (COLLECTED, {**PASSED_A, "id": [A]}, PASSED_B, END),
    "ids that are no list": ({"event": "collected", "ids": 7}, PASSED_A, PASSED_B, END),
    "a status without end": (*HONEST[:3], b'{"event": "end", "exit_status": 1e400}'),
    "deeper than can be read": (*HONEST[:3], b"[" * 200_000, END),
    "a number longer than can be read": (*HONEST[:3], b"9" * 10_000, END),
    "a lone surrogate": (*HONEST[:3], {**FAILURE, "message": "\ud800"}, END),
}


@pytest.mark.parametrize("parts", FORGED.values(), ids=FORGED)
def test_forged_report_is_garbled_and_does_not_pass(parts: tuple[Any, ...]) -> None:
    run = read(lines(*parts))
    assert run.ending == "garbled"
    assert "result channel" in run.detail
    assert not run.passed


INCOMPLETE: dict[str, tuple[bytes, tuple[str, ...], tuple[str, ...]]] = {
    "a test is missing": (lines(COLLECTED, PASSED_A, END), (B,), ()),
    "only one was collected": (lines({**COLLECTED, "ids": [A]}, PASSED_A, END), (B,), ()),
    "a test too many": (
        lines(*HONEST[:3], {**PASSED_A, "id": "test_m.py::test_c"}, END),
        (),
        ("test_m.py::test_c",),
    ),
    "nothing but the end": (lines(END), (A, B), ()),
}


@pytest.mark.parametrize("case", INCOMPLETE.values(), ids=INCOMPLETE)
def test_other_tests_than_expected_do_not_pass(
    case: tuple[bytes, tuple[str, ...], tuple[str, ...]],
) -> None:
    result, missing, unexpected = case
    run = read(result)
    assert (run.missing, run.unexpected) == (missing, unexpected)
    assert not run.passed


ROWS = [{**PASSED_A, "id": f"{A}[{name}]"} for name in ("0-1", "1-0")]


@pytest.mark.parametrize(
    ("ids", "passes"),
    [
        ((f"{A}[None-1]", f"{A}[None-0]"), True),
        ((f"{A}[None-1]",), False),
        ((f"{A}[None-1]", f"{A}[None-0]", B), False),
        ((f"{A}[None-1]", f"{B}[None-0]"), False),
    ],
)
def test_rows_are_awaited_by_their_number(ids: tuple[str, ...], passes: bool) -> None:
    """A constant of the module has another value on the stub."""
    run = read(lines(*ROWS, END), expected=Expectation(ids=frozenset(ids)))
    assert run.passed is passes
    assert bool(run.missing or run.unexpected) is not passes


@pytest.mark.parametrize(
    "parts", [(END,), (COLLECTED, PASSED_A, END), (PASSED_A, END), ({**COLLECTED, "ids": []}, END)]
)
def test_collected_tests_must_report(parts: tuple[Any, ...]) -> None:
    assert not read(lines(*parts), expected=None).passed


@pytest.mark.parametrize("result", [b"", lines(*HONEST[:3]), lines(*HONEST)[:-5]])
def test_exit_status_0_without_report_is_a_crash_or_garbled(result: bytes) -> None:
    run = read(result, status=0)
    assert run.ending in ("crashed", "garbled")
    assert not run.passed


@pytest.mark.parametrize(("reported", "real"), [(0, 1), (0, -9), (1, 0), (5, 3)])
def test_reported_status_must_be_the_actual_one(reported: int, real: int) -> None:
    run = read(lines(*HONEST[:3], {**END, "exit_status": reported}), status=real)
    assert run.exit_status != 0
    assert not run.passed


@pytest.mark.parametrize("ending", ["timeout", "output", "interrupted"])
def test_run_that_was_ended_does_not_pass(ending: Ending) -> None:
    run = read(lines(*HONEST), ending=ending, status=-9)
    assert run.ending == ending
    assert not run.passed


def test_line_that_is_cut_off_is_no_forgery() -> None:
    run = read(lines(COLLECTED, PASSED_A) + b'{"event": "te', ending="timeout", status=-9)
    assert run.ending == "timeout"
    assert [item.id for item in run.tests] == [A]


@pytest.mark.parametrize(("status", "description"), read_table(__file__, "CRASHES"))
def test_crash_is_described_with_its_place(status: int, description: str) -> None:
    run = read(lines(COLLECTED, {"event": "started", "id": A}), status=status)
    assert run.ending == "crashed"
    assert description in run.detail
    assert run.detail.endswith(f"during {A}")


def test_sigxcpu_is_an_ending_of_its_own() -> None:
    run = read(lines(COLLECTED, {"event": "started", "id": A}), status=-24)
    assert (run.ending, run.limits_hit) == ("cpu", ("cpu",))
    assert run.detail == f"more than 32 s of CPU time in one process during {A}"


@pytest.mark.parametrize(("outcome", "tolerated", "passes"), read_table(__file__, "SKIPS"))
def test_only_expected_skips_are_tolerated(outcome: str, tolerated: bool, passes: bool) -> None:
    expected = Expectation(ids=BOTH.ids, tolerated=frozenset({B} if tolerated else ()))
    run = read(lines(COLLECTED, PASSED_A, {**PASSED_B, "outcome": outcome}, END), expected=expected)
    assert run.passed is passes


def test_run_without_a_passed_test_does_not_pass() -> None:
    skipped = ({**item, "outcome": "skipped"} for item in (PASSED_A, PASSED_B))
    expected = Expectation(ids=BOTH.ids, tolerated=BOTH.ids)
    assert not read(lines(COLLECTED, *skipped, END), expected=expected).passed


def test_failure_counts_although_all_tests_passed() -> None:
    run = read(lines(COLLECTED, PASSED_A, FAILURE, PASSED_B, END))
    assert run.failures[0].exception == "ValueError"
    assert not run.passed


@pytest.mark.parametrize("seconds", ["1e999", "-5", "NaN"])
def test_invalid_duration_becomes_a_number_of_seconds(seconds: str) -> None:
    forged = json.dumps(PASSED_A).replace("0.1", seconds).encode()
    run = read(lines(COLLECTED, forged, PASSED_B, END))
    assert 0 <= run.tests[0].duration_s <= 86400


@pytest.mark.parametrize(
    "wrong", [lines(END)[4:], lines(END).replace(b"key", b"yek"), b"key\n", b"\n", b" \n"]
)
def test_events_end_at_the_first_invalid_line(wrong: bytes) -> None:
    assert decode_events(lines(END) + wrong + lines(END), "key") == ([END], False)


def test_events_of_a_complete_channel() -> None:
    assert decode_events(lines(END), "key") == ([END], True)
    assert decode_events(b"", "key") == ([], True)
