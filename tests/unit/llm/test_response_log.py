"""The log of answers: on disk before use, mended after a crash, honest about a full disk."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

from greenloop.errors import InputError, OutputError
from greenloop.llm.response_log import RecordedResponse, ResponseLog, TokenCount, load_responses
from greenloop.prompts import Message, Prompt

FULL = Path("/dev/full")


def entry(answer: str, text: str = "d", tool: str = "generate_code") -> RecordedResponse:
    return RecordedResponse(tool=tool, answer=answer, prompt_sha256=make_prompt(text, tool).sha256)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file of this process may grow beyond `size` bytes: a write is cut there, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def make_prompt(text: str, tool: str = "generate_code") -> Prompt:
    return Prompt(tool, (Message("user", text),))


def taken(log: ResponseLog, text: str = "d", tool: str = "generate_code") -> str | None:
    found = log.pop_response(make_prompt(text, tool))
    return found and found.answer


def answers(path: Path) -> list[str]:
    return [item.answer for item in load_responses(path)]


def test_an_appended_answer_is_on_disk_when_append_returns(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bytes] = []
    monkeypatch.setattr(os, "fsync", lambda _handle: synced.append(path.read_bytes()))
    ResponseLog(path).append(entry("one"))
    line = path.read_bytes()
    assert synced == [line]
    digest = make_prompt("d").sha256
    assert json.loads(line) == {"tool": "generate_code", "answer": "one", "prompt_sha256": digest}
    assert line.endswith(b"\n")


def test_the_log_is_for_its_owner_alone(path: Path) -> None:
    ResponseLog(path).append(entry("one"))
    assert path.stat().st_mode & 0o077 == 0


def test_a_resumed_run_is_served_each_answer_once(path: Path) -> None:
    full = RecordedResponse(
        tool="review_code",
        answer="LGTM",
        prompt_sha256=make_prompt("d", "review_code").sha256,
        model="openai:x",
        usage=TokenCount(input_tokens=3, output_tokens=4),
        error="truncated",
        seconds=1.5,
    )
    ResponseLog(path).append(full)
    log = ResponseLog(path)
    assert log.loaded_count == 1
    assert log.pop_response(make_prompt("d", "review_code")) == full
    assert log.pop_response(make_prompt("d", "review_code")) is None


def test_equal_prompts_get_their_answers_in_the_order_given(path: Path) -> None:
    first = ResponseLog(path)
    for answer, text in [("one", "d"), ("other", "e"), ("two", "d"), ("three", "d")]:
        first.append(entry(answer, text))
    log = ResponseLog(path)
    assert [taken(log) for _ in range(4)] == ["one", "two", "three", None]
    assert taken(log, "e") == "other"


def test_an_answer_belongs_to_its_tool_and_its_prompt(path: Path) -> None:
    ResponseLog(path).append(entry("one"))
    log = ResponseLog(path)
    assert taken(log, tool="repair_code") is None
    assert taken(log, "e") is None
    assert taken(log) == "one"


@pytest.mark.parametrize(
    ("tool", "previous"),
    [
        ("harden_tests", "generate_tests"),
        ("propose_checks", "generate_tests"),
        ("judge_check", "judge_test"),
    ],
)
def test_answers_logged_by_0_1_0_are_found_under_their_previous_tool(
    tool: str, previous: str, path: Path
) -> None:
    log = ResponseLog(path)
    log.append(entry("older", tool=previous))
    log.append(entry("newer", tool=tool))
    resumed = ResponseLog(path)
    assert resumed.has_response(make_prompt("d", tool))
    assert [taken(resumed, tool=tool) for _ in range(3)] == ["older", "newer", None]
    assert not resumed.has_response(make_prompt("d", tool))


def test_what_was_appended_now_is_not_served_in_the_same_run(path: Path) -> None:
    log = ResponseLog(path)
    log.append(entry("one"))
    assert taken(log) is None


@pytest.mark.parametrize(
    "text",
    ["a\u2028b\u2029c\x85d\x0ce\x1cf", "zwölf … 十二 🎲", 'quote " back \\ tab \t', "\ufeffx\r\n"],
)
def test_any_text_comes_back_as_it_was(text: str, path: Path) -> None:
    ResponseLog(path).append(entry(text))
    assert taken(ResponseLog(path)) == text


@pytest.mark.parametrize(
    "torn",
    [b'{"tool": "generate_code", "answer": "tw', b"{", b"\0\0\0\0", '{"answer": "ö'.encode()[:-1]],
    ids=["cut", "brace", "zeros", "half a character"],
)
def test_a_torn_last_line_is_dropped_and_cut_off(torn: bytes, path: Path) -> None:
    ResponseLog(path).append(entry("one"))
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    log = ResponseLog(path)
    assert log.loaded_count == 1
    assert path.read_bytes() == whole
    log.append(entry("two"))
    assert answers(path) == ["one", "two"]


def test_a_last_line_that_lacks_only_its_end_is_kept(path: Path) -> None:
    ResponseLog(path).append(entry("one"))
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    log = ResponseLog(path)
    assert taken(log) == "one"
    log.append(entry("two"))
    assert answers(path) == ["one", "two"]


def test_a_broken_line_inside_a_log_is_an_error(path: Path) -> None:
    path.write_text('{"tool": "a", "answer": "1"}\n{torn\n{"tool": "a", "answer": "2"}\n')
    with pytest.raises(InputError, match=r"answers\.jsonl:2 is no line"):
        ResponseLog(path)


def test_a_log_without_a_file_keeps_nothing() -> None:
    log = ResponseLog(None)
    log.append(entry("one"))
    assert (log.loaded_count, taken(log)) == (0, None)


class TestFullDisk:
    def test_a_full_disk_is_an_output_error(self, path: Path) -> None:
        log = ResponseLog(path)
        path.symlink_to(FULL)
        with pytest.raises(OutputError, match=r"answers\.jsonl cannot be written: No space left"):
            log.append(entry("one"))

    def test_a_full_disk_under_the_record_too(self, path: Path) -> None:
        log = ResponseLog(path, record_path=FULL)
        with pytest.raises(OutputError, match="/dev/full"):
            log.append(entry("one"))
        assert answers(path) == ["one"]

    def test_a_line_of_which_the_disk_took_only_a_part_is_taken_back(self, path: Path) -> None:
        log = ResponseLog(path)
        log.append(entry("one"))
        with room_for(path.stat().st_size + 10), pytest.raises(OutputError, match="too large"):
            log.append(entry("two"))
        log.append(entry("three"))
        assert answers(path) == ["one", "three"]

    def test_a_line_that_does_not_reach_the_disk_is_taken_back(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log = ResponseLog(path)
        log.append(entry("one"))
        monkeypatch.setattr(os, "fsync", mock.Mock(side_effect=OSError(5, "Input/output error")))
        with pytest.raises(OutputError, match="Input/output error"):
            log.append(entry("two"))
        assert answers(path) == ["one"]

    def test_a_folder_that_is_not_there_is_an_output_error(self, tmp_path: Path) -> None:
        with pytest.raises(OutputError, match="No such file"):
            ResponseLog(tmp_path / "no" / "answers.jsonl").append(entry("one"))


class TestRecord:
    def test_the_record_is_a_copy_also_of_what_was_held(self, path: Path, tmp_path: Path) -> None:
        ResponseLog(path).append(entry("one"))
        record = tmp_path / "new" / "record.jsonl"
        ResponseLog(path, record_path=record).append(entry("two"))
        assert record.read_bytes() == path.read_bytes()
        assert answers(record) == ["one", "two"]

    def test_an_older_record_is_written_anew(self, path: Path, tmp_path: Path) -> None:
        record = tmp_path / "record.jsonl"
        record.write_text("of another run\n")
        ResponseLog(path, record_path=record)
        assert record.read_text() == ""

    def test_a_record_that_cannot_be_written_is_an_output_error(
        self, path: Path, tmp_path: Path
    ) -> None:
        with pytest.raises(OutputError, match=r"--record .* cannot be written: Is a directory"):
            ResponseLog(path, record_path=tmp_path)


class TestReplayFile:
    def test_only_tool_is_needed_and_unknown_keys_are_passed_over(self, path: Path) -> None:
        path.write_bytes(
            b'\xef\xbb\xbf{"tool": "a", "error": "timeout"}\r\n\r\n{"tool": "b", "note": 1, "answer": "x"}'
        )
        first, second = load_responses(path)
        assert (first.tool, first.error, second.tool, second.answer) == ("a", "timeout", "b", "x")

    @pytest.mark.parametrize(
        "line",
        [
            "{",
            "[]",
            "null",
            '{"answer": "x"}',
            '{"tool": "a", "error": "rain"}',
            '{"tool": "a", "answer": 1}',
            '{"tool": "a", "seconds": -1}',
            "[" * 100_000,
        ],
    )
    @pytest.mark.parametrize("end", ["", "\n", '\n{"tool": "a"}\n'])
    def test_an_error_names_file_and_line(self, line: str, end: str, path: Path) -> None:
        path.write_text('{"tool": "a"}\n\n' + line + end)
        with pytest.raises(InputError) as caught:
            load_responses(path)
        assert str(caught.value) == f'{path}:3 is no line {{"tool": …, "answer": …}}'

    def test_bytes_that_are_no_text_are_named_by_line(self, path: Path) -> None:
        path.write_bytes(b'{"tool": "a"}\n{"tool": "\xff"}\n')
        with pytest.raises(InputError, match=r"answers\.jsonl:2"):
            load_responses(path)

    def test_a_file_that_is_not_there_is_named(self, path: Path) -> None:
        with pytest.raises(InputError, match=r"answers\.jsonl cannot be read .*: No such file"):
            load_responses(path)
