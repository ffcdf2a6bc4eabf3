"""Answer log: durability, recovery after a crash, full disks."""

import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

from greenloop.errors import InputError, OutputError
from greenloop.llm.budget import TokenCount
from greenloop.llm.response_log import (
    RecordedResponse,
    RecordingHeader,
    ResponseLog,
    load_responses,
    read_header,
)
from greenloop.prompts import Message, Prompt

FULL = Path("/dev/full")


def entry(answer: str, text: str = "d", tool: str = "generate_code") -> RecordedResponse:
    return RecordedResponse(tool=tool, answer=answer, prompt_sha256=make_prompt(text, tool).sha256)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


@contextmanager
def limit_file_size(size: int) -> Iterator[None]:
    """Limit files of this process to `size` bytes: longer writes are partial, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def make_prompt(text: str, tool: str = "generate_code") -> Prompt:
    return Prompt(tool, (Message("user", text),))


def pop(log: ResponseLog, text: str = "d", tool: str = "generate_code") -> str | None:
    found = log.pop_response(make_prompt(text, tool))
    return found and found.answer


def answers(path: Path) -> list[str]:
    return [item.answer for item in load_responses(path)]


def test_appended_answers_are_on_disk_when_sync_returns(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    record = tmp_path / "record.jsonl"
    log = ResponseLog(path, record)
    log.append(entry("one"))
    log.sync()
    assert synced == [path.stat().st_ino, record.stat().st_ino]
    line = path.read_bytes()
    digest = make_prompt("d").sha256
    assert json.loads(line) == {"tool": "generate_code", "answer": "one", "prompt_sha256": digest}
    assert line.endswith(b"\n")


def test_log_is_readable_by_its_owner_only(path: Path) -> None:
    ResponseLog(path).append(entry("one"))
    assert path.stat().st_mode & 0o077 == 0


def test_resumed_run_gets_each_answer_once(path: Path) -> None:
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


def test_equal_prompts_get_answers_in_order(path: Path) -> None:
    first = ResponseLog(path)
    for answer, text in [("one", "d"), ("other", "e"), ("two", "d"), ("three", "d")]:
        first.append(entry(answer, text))
    log = ResponseLog(path)
    assert [pop(log) for _ in range(4)] == ["one", "two", "three", None]
    assert pop(log, "e") == "other"


def test_answer_is_found_by_tool_and_prompt(path: Path) -> None:
    ResponseLog(path).append(entry("one"))
    log = ResponseLog(path)
    assert pop(log, tool="repair_code") is None
    assert pop(log, "e") is None
    assert pop(log) == "one"


def test_appended_answer_is_not_served_in_the_same_run(path: Path) -> None:
    log = ResponseLog(path)
    log.append(entry("one"))
    assert pop(log) is None


@pytest.mark.parametrize(
    "text",
    ["a\u2028b\u2029c\x85d\x0ce\x1cf", "zwölf … 十二 🎲", 'quote " back \\ tab \t', "\ufeffx\r\n"],
)
def test_any_text_is_restored(text: str, path: Path) -> None:
    ResponseLog(path).append(entry(text))
    assert pop(ResponseLog(path)) == text


@pytest.mark.parametrize(
    "torn",
    [b'{"tool": "generate_code", "answer": "tw', b"{", b"\0\0\0\0", '{"answer": "ö'.encode()[:-1]],
    ids=["cut", "brace", "zeros", "half a character"],
)
def test_incomplete_last_line_is_truncated(torn: bytes, path: Path) -> None:
    ResponseLog(path).append(entry("one"))
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    log = ResponseLog(path)
    assert log.loaded_count == 1
    assert path.read_bytes() == whole
    log.append(entry("two"))
    assert answers(path) == ["one", "two"]


def test_last_line_without_line_end_is_kept(path: Path) -> None:
    ResponseLog(path).append(entry("one"))
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    log = ResponseLog(path)
    assert pop(log) == "one"
    log.append(entry("two"))
    assert answers(path) == ["one", "two"]


def test_invalid_line_within_a_log_is_an_error(path: Path) -> None:
    path.write_text('{"tool": "a", "answer": "1"}\n{torn\n{"tool": "a", "answer": "2"}\n')
    with pytest.raises(InputError, match=r"answers\.jsonl:2 is not a line"):
        ResponseLog(path)


def test_log_without_a_file_keeps_nothing() -> None:
    log = ResponseLog(None)
    log.append(entry("one"))
    assert (log.loaded_count, pop(log)) == (0, None)


class TestFullDisk:
    def test_full_disk_is_an_output_error(self, path: Path) -> None:
        log = ResponseLog(path)
        path.symlink_to(FULL)
        with pytest.raises(OutputError, match=r"answers\.jsonl cannot be written: No space left"):
            log.append(entry("one"))

    def test_full_disk_of_the_record_is_an_output_error(self, path: Path) -> None:
        log = ResponseLog(path, record_path=FULL)
        with pytest.raises(OutputError, match="/dev/full"):
            log.append(entry("one"))
        assert answers(path) == ["one"]

    def test_partially_written_line_is_removed(self, path: Path) -> None:
        log = ResponseLog(path)
        log.append(entry("one"))
        with (
            limit_file_size(path.stat().st_size + 10),
            pytest.raises(OutputError, match="too large"),
        ):
            log.append(entry("two"))
        log.append(entry("three"))
        assert answers(path) == ["one", "three"]

    def test_answers_that_do_not_get_to_disk_are_an_output_error(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log = ResponseLog(path)
        log.append(entry("one"))
        monkeypatch.setattr(os, "fsync", mock.Mock(side_effect=OSError(5, "Input/output error")))
        with pytest.raises(OutputError, match="Input/output error"):
            log.sync()

    def test_missing_folder_is_an_output_error(self, tmp_path: Path) -> None:
        with pytest.raises(OutputError, match="No such file"):
            ResponseLog(tmp_path / "no" / "answers.jsonl").append(entry("one"))


class TestRecord:
    def test_record_has_the_earlier_answers_too(self, path: Path, tmp_path: Path) -> None:
        ResponseLog(path).append(entry("one"))
        record = tmp_path / "new" / "record.jsonl"
        ResponseLog(path, record_path=record).append(entry("two"))
        assert record.read_bytes() == path.read_bytes()
        assert answers(record) == ["one", "two"]

    def test_record_begins_with_what_it_is_bound_to(self, path: Path, tmp_path: Path) -> None:
        ResponseLog(path).append(entry("one"))
        record = tmp_path / "record.jsonl"
        header = RecordingHeader(specification_sha256="ab12", greenloop="1")
        ResponseLog(path, record, header).append(entry("two"))
        assert read_header(record) == header
        assert read_header(path) is None
        assert answers(record) == ["one", "two"]

    def test_existing_record_is_replaced(self, path: Path, tmp_path: Path) -> None:
        record = tmp_path / "record.jsonl"
        header = RecordingHeader(specification_sha256="ab12")
        for before in (None, header, header):
            ResponseLog(path, record, before).append(entry("of another run"))
        record.write_text("")
        ResponseLog(path, record_path=record)
        assert record.read_text() == path.read_text()

    def test_existing_record_stays_until_the_first_answer(self, tmp_path: Path) -> None:
        record, header = tmp_path / "record.jsonl", RecordingHeader(specification_sha256="a")
        ResponseLog(tmp_path / "one.jsonl", record, header).append(entry("one"))
        before = record.read_bytes()
        log = ResponseLog(tmp_path / "two.jsonl", record, header)
        assert record.read_bytes() == before
        log.append(entry("two"))
        log.append(entry("three"))
        assert read_header(record) == header
        assert answers(record) == ["two", "three"]

    def test_file_that_is_no_recording_is_kept(self, path: Path, tmp_path: Path) -> None:
        own = tmp_path / "shipping.py"
        own.write_text("\nx = 1\n")
        with pytest.raises(
            InputError, match=r"--record .*shipping\.py was not written by greenloop"
        ):
            ResponseLog(path, record_path=own)
        assert own.read_text() == "\nx = 1\n"

    def test_unwritable_record_is_an_output_error(self, path: Path, tmp_path: Path) -> None:
        with pytest.raises(OutputError, match=r"--record .* cannot be written: Is a directory"):
            ResponseLog(path, record_path=tmp_path)


class TestReplayFile:
    def test_only_tool_is_required_and_unknown_keys_are_ignored(self, path: Path) -> None:
        path.write_bytes(
            b'\xef\xbb\xbf{"tool": "a", "error": "truncated"}\r\n\r\n{"tool": "b", "note": 1, "answer": "x"}'
        )
        first, second = load_responses(path)
        assert (first.tool, first.error, second.tool, second.answer) == ("a", "truncated", "b", "x")

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
    def test_error_names_file_and_line(self, line: str, end: str, path: Path) -> None:
        path.write_text('{"tool": "a"}\n\n' + line + end)
        with pytest.raises(InputError) as caught:
            load_responses(path)
        assert str(caught.value) == f'{path}:3 is not a line of the form {{"tool": …, "answer": …}}'

    def test_invalid_utf8_error_names_the_line(self, path: Path) -> None:
        path.write_bytes(b'{"tool": "a"}\n{"tool": "\xff"}\n')
        with pytest.raises(InputError, match=r"answers\.jsonl:2"):
            load_responses(path)

    def test_missing_file_is_named(self, path: Path) -> None:
        with pytest.raises(InputError, match=r"answers\.jsonl cannot be read .*: No such file"):
            load_responses(path)
