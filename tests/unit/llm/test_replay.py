"""Chat model that replays recorded answers."""

from pathlib import Path

import pytest
from langchain_core.exceptions import (
    ModelAPIError,
    ModelError,
    ModelRateLimitError,
    ModelTimeoutError,
)
from langchain_core.messages import AIMessage

from greenloop.errors import InputError, ReplayExhaustedError
from greenloop.llm.budget import TokenCount
from greenloop.llm.replay import TOOL_KEY, ReplayChatModel
from greenloop.llm.response_log import RecordedFault, RecordedResponse, load_responses, read_header
from greenloop.workflow.storage.request import hash_recorded_texts
from tests.support.shipped_recordings import EXAMPLES, RECORDINGS, build_recorded_request


def build_replay_model(
    *entries: tuple[str, str] | tuple[str, str, RecordedFault]
) -> ReplayChatModel:
    made = [
        RecordedResponse(tool=item[0], answer=item[1], error=item[2] if len(item) > 2 else None)
        for item in entries
    ]
    return ReplayChatModel(made, "demo.jsonl")


def call(model: ReplayChatModel, tool: str, prompt: str = "whatever") -> AIMessage:
    return model.invoke(prompt, config={"metadata": {TOOL_KEY: tool}})


def test_answers_are_in_order_per_tool() -> None:
    model = build_replay_model(("a", "a1"), ("b", "b1"), ("a", "a2"))
    assert [call(model, tool, f"to {tool}").text for tool in "aab"] == ["a1", "a2", "b1"]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("rate_limit", ModelRateLimitError),
        ("server_error", ModelAPIError),
        ("timeout", ModelTimeoutError),
    ],
)
def test_fault_is_raised_once_before_the_answer(
    fault: RecordedFault, kind: type[ModelError]
) -> None:
    model = build_replay_model(("a", "", fault), ("a", "a1"))
    with pytest.raises(kind):
        call(model, "a")
    assert call(model, "a").text == "a1"


@pytest.mark.parametrize(("fault", "finish"), [("truncated", "length"), (None, "stop")])
def test_truncated_answer_has_finish_reason_length(
    fault: RecordedFault | None, finish: str
) -> None:
    model = ReplayChatModel([RecordedResponse(tool="a", answer="half", error=fault)])
    answer = call(model, "a")
    assert (answer.text, answer.response_metadata["finish_reason"]) == ("half", finish)


def test_recorded_usage_and_model_are_returned() -> None:
    usage = TokenCount(input_tokens=3, output_tokens=4)
    model = ReplayChatModel([RecordedResponse(tool="a", model="openai:x", usage=usage)])
    answer = call(model, "a")
    assert answer.usage_metadata == {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    assert answer.response_metadata["model_name"] == "openai:x"


def test_missing_usage_is_unknown() -> None:
    assert call(build_replay_model(("a", "a1")), "a").usage_metadata is None


@pytest.mark.parametrize("tool", ["a", "b"])
def test_exhausted_replay_names_file_and_tool(tool: str) -> None:
    model = build_replay_model(("a", "a1"))
    call(model, "a")
    with pytest.raises(
        ReplayExhaustedError, match=rf"demo\.jsonl has no (further )?answer for {tool}"
    ):
        call(model, tool)


def test_replay_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"tool": "a", "answer": "a1"}\n')
    model = ReplayChatModel.from_file(path)
    assert (model.source, call(model, "a").text) == (str(path), "a1")
    with pytest.raises(InputError):
        ReplayChatModel.from_file(tmp_path / "other.jsonl")


def test_bound_recording_is_refused_for_another_text(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    header = '{"recording": {"specification_sha256": "ab12", "greenloop": "1"}}\n'
    path.write_text(header + '{"tool": "a", "answer": "a1"}\n')
    model = ReplayChatModel.from_file(path)
    assert model.select("ab12") is model
    with pytest.raises(InputError, match=r"run\.jsonl was recorded for another text"):
        model.select("cd34")
    assert call(model, "a").text == "a1"
    build_replay_model(("a", "a1")).select("cd34")


@pytest.mark.parametrize("header", ['{"recording": {}}', '{"recording": 1}', "[]"])
def test_malformed_header_is_refused(header: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(header + '\n{"tool": "a", "answer": "a1"}\n')
    with pytest.raises(InputError, match=r"run\.jsonl:1 is not a line"):
        ReplayChatModel.from_file(path)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.relative_to(EXAMPLES).as_posix())
def test_shipped_recording_is_bound_to_its_text(path: Path) -> None:
    header = read_header(path)
    assert header is not None
    assert header.specification_sha256 == hash_recorded_texts(build_recorded_request(path))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.relative_to(EXAMPLES).as_posix())
def test_shipped_recordings_serve_all_answers(path: Path) -> None:
    model, answers = ReplayChatModel.from_file(path), load_responses(path)
    assert [call(model, item.tool).text for item in answers] == [item.answer for item in answers]


class TestSkip:
    def test_skip_drops_one_answer_of_one_tool(self) -> None:
        model = build_replay_model(("a", "a1"), ("b", "b1"), ("a", "a2"))
        model.skip("a")
        assert [call(model, tool).text for tool in "ab"] == ["a2", "b1"]

    def test_skip_drops_the_faults_before_the_answer(self) -> None:
        model = build_replay_model(
            ("a", "", "rate_limit"), ("a", "", "timeout"), ("a", "a1"), ("a", "", "server_error")
        )
        model.skip("a")
        with pytest.raises(ModelAPIError):  # the fault behind the answer is still to come
            call(model, "a")

    def test_truncated_answer_counts_as_an_answer(self) -> None:
        model = build_replay_model(("a", "half", "truncated"), ("a", "a2"))
        model.skip("a")
        assert call(model, "a").text == "a2"

    def test_skip_beyond_the_end_does_nothing(self) -> None:
        model = build_replay_model(("a", "a1"))
        model.skip("a")
        model.skip("a")
        model.skip("b")
        with pytest.raises(ReplayExhaustedError):
            call(model, "a")
