"""Client of the model: log, budget, retries, fallback, second requests."""

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from langchain_core.exceptions import ModelAPIError, ModelAuthenticationError, ModelRateLimitError

from greenloop.errors import (
    BudgetExhaustedError,
    InvalidResponseError,
    ModelFailure,
    ModelRefusedError,
    ModelUnavailableError,
    OutputError,
    ReplayExhaustedError,
)
from greenloop.events import (
    CallFailed,
    CallFinished,
    CallProgress,
    CallRetried,
    CallStarted,
    Event,
    Notice,
    ResponseRejected,
)
from greenloop.llm.budget import Budget, TokenCount, estimate_tokens
from greenloop.llm.chat import ChatSource
from greenloop.llm.client import LLMClient, RetryPolicy
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.replay import ReplayChatModel
from greenloop.llm.response import LLMResponse
from greenloop.llm.response_log import RecordedFault, RecordedResponse, ResponseLog, load_responses
from greenloop.prompts import Message, Prompt
from tests.support.scripted import Scripted, ScriptedModel, message

TOOL = "generate_code"
DOWN = ModelAPIError("down")


def build_scripted_model(*answers: Scripted) -> ScriptedModel:
    return ScriptedModel(answers={TOOL: answers})


def make_client(
    *models: ScriptedModel | ReplayChatModel, attempts: int = 3, **more: object
) -> LLMClient:
    sources = [
        ChatSource(f"test:{number}", model, is_recorded=isinstance(model, ReplayChatModel))
        for number, model in enumerate(models)
    ]
    return LLMClient(sources, retry=RetryPolicy(attempts, 0.0), **more)  # type: ignore[arg-type]


def text_of(answer: LLMResponse) -> str:
    """Parse an answer; one that starts with 'bad' is invalid."""
    if answer.text.startswith("bad"):
        raise InvalidResponse(f"{answer.text} will not do")
    return answer.text


def request(client: LLMClient, prompt: Prompt) -> str:
    return asyncio.run(client.request(prompt, text_of))


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


def test_valid_answer_is_parsed_and_reported(prompt: Prompt, events: list[Event]) -> None:
    model = build_scripted_model(message("fine", usage=(7, 3)))
    assert request(make_client(model, emit=events.append), prompt) == "fine"
    assert [item.type for item in model.prompts[0][1]] == ["system", "human"]
    assert model.list_prompts(TOOL) == ["Write.\n\nto_roman"]
    started, progress, finished = events
    assert started == CallStarted(TOOL)
    assert progress == CallProgress(TOOL, 4)
    assert isinstance(finished, CallFinished)
    assert (finished.tokens, finished.source) == (10, "model")


class TestLog:
    def test_answer_is_on_disk_before_it_is_parsed(
        self, prompt: Prompt, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        synced: list[bytes] = []
        monkeypatch.setattr(os, "fsync", lambda _handle: synced.append(path.read_bytes()))

        def read(answer: LLMResponse) -> str:
            assert synced == [path.read_bytes()]
            return load_responses(path)[-1].answer + "!"

        client = make_client(
            build_scripted_model(message("fine", usage=(7, 3))), log=ResponseLog(path)
        )
        assert asyncio.run(client.request(prompt, read)) == "fine!"
        (entry,) = load_responses(path)
        assert (entry.tool, entry.prompt_sha256, entry.model) == (TOOL, prompt.sha256, "test:0")
        assert entry.usage == TokenCount(input_tokens=7, output_tokens=3)
        assert entry.error is None
        assert entry.seconds is not None

    def test_logged_answer_is_used_without_a_call(
        self, prompt: Prompt, path: Path, events: list[Event]
    ) -> None:
        request(
            make_client(build_scripted_model(message("fine", usage=(7, 3))), log=ResponseLog(path)),
            prompt,
        )
        model, before = build_scripted_model(), path.read_bytes()
        client = make_client(model, log=ResponseLog(path), emit=events.append)
        assert request(client, prompt) == "fine"
        assert model.prompts == []
        assert path.read_bytes() == before
        assert events == [CallStarted(TOOL), CallFinished(TOOL, 0.0, 10, "log", "test:0", 7, 3)]
        assert client.budget.tokens == 10  # it was paid for, so it counts towards the budget

    def test_other_prompt_is_not_served_from_the_log(self, prompt: Prompt, path: Path) -> None:
        request(make_client(build_scripted_model("fine"), log=ResponseLog(path)), prompt)
        other = Prompt(TOOL, (*prompt.messages, Message("user", "more")))
        assert (
            request(make_client(build_scripted_model("new"), log=ResponseLog(path)), other) == "new"
        )

    def test_resumed_second_request_is_not_paid_again(self, prompt: Prompt, path: Path) -> None:
        assert (
            request(make_client(build_scripted_model("bad", "fine"), log=ResponseLog(path)), prompt)
            == "fine"
        )
        assert request(make_client(build_scripted_model(), log=ResponseLog(path)), prompt) == "fine"

    def test_truncated_answer_is_still_truncated_when_resumed(
        self, prompt: Prompt, path: Path
    ) -> None:
        for model in (
            build_scripted_model(message("half", finish="length")),
            build_scripted_model(),
        ):
            client = make_client(model, log=ResponseLog(path))
            assert asyncio.run(client.request(prompt, lambda answer: answer)).is_truncated
        assert load_responses(path)[0].error == "truncated"

    def test_answer_that_cannot_be_logged_is_not_used(self, prompt: Prompt, path: Path) -> None:
        log = ResponseLog(path)
        path.symlink_to("/dev/full")
        with pytest.raises(OutputError):
            asyncio.run(
                make_client(build_scripted_model("fine"), log=log).request(prompt, pytest.fail)
            )

    def test_lone_surrogate_can_be_logged(self, prompt: Prompt, path: Path) -> None:
        assert (
            request(make_client(build_scripted_model("a\ud800b"), log=ResponseLog(path)), prompt)
            == "a?b"
        )

    def test_resumed_replay_continues_after_the_logged_answers(
        self, prompt: Prompt, path: Path
    ) -> None:
        def replay() -> ReplayChatModel:
            texts: list[tuple[str, RecordedFault | None]] = [
                ("", "timeout"),
                ("one", None),
                ("two", None),
            ]
            return ReplayChatModel(
                [RecordedResponse(tool=TOOL, answer=a, error=e) for a, e in texts]
            )

        assert request(make_client(replay(), log=ResponseLog(path)), prompt) == "one"
        client = make_client(replay(), log=ResponseLog(path))
        assert [request(client, prompt), request(client, prompt)] == ["one", "two"]


class TestSecondRequest:
    def test_invalid_answer_is_requested_again_with_the_error(
        self, prompt: Prompt, events: list[Event]
    ) -> None:
        model = build_scripted_model("bad one", "fine")
        assert request(make_client(model, emit=events.append), prompt) == "fine"
        assert ResponseRejected(TOOL, "bad one will not do") in events
        first, second = (messages for _, messages in model.prompts)
        assert second[: len(first)] == first
        assert [(item.type, item.text) for item in second[len(first) :]] == [
            ("ai", "bad one"),
            ("human", "bad one will not do"),
        ]

    def test_second_invalid_answer_is_an_error(self, prompt: Prompt) -> None:
        model = build_scripted_model("bad one", "bad two", "fine")
        with pytest.raises(
            InvalidResponseError, match=r"generate_code: .*twice.*: bad two will not"
        ):
            request(make_client(model), prompt)
        assert model.unused == {TOOL: 1}

    def test_both_answers_count_towards_the_budget(self, prompt: Prompt) -> None:
        client = make_client(
            build_scripted_model(message("bad", usage=(1, 2)), message("fine", usage=(3, 4)))
        )
        request(client, prompt)
        assert (client.budget.calls, client.budget.tokens) == (2, 10)

    def test_other_exceptions_of_the_parser_are_raised(self, prompt: Prompt) -> None:
        def read(_answer: LLMResponse) -> None:
            raise ZeroDivisionError

        model = build_scripted_model("fine", "fine")
        with pytest.raises(ZeroDivisionError):
            asyncio.run(make_client(model).request(prompt, read))
        assert len(model.prompts) == 1


class TestRetries:
    def test_transient_error_is_retried(self, prompt: Prompt, events: list[Event]) -> None:
        model = build_scripted_model(
            ModelRateLimitError("slow down"), ConnectionResetError("gone"), "fine"
        )
        assert request(make_client(model, emit=events.append), prompt) == "fine"
        assert [item for item in events if isinstance(item, CallRetried)] == [
            CallRetried(TOOL, "ModelRateLimitError: slow down", 1, 0.0),
            CallRetried(TOOL, "ConnectionResetError: gone", 2, 0.0),
        ]

    @pytest.mark.parametrize("attempts", [1, 2, 5])
    def test_number_of_attempts_follows_the_policy(self, attempts: int, prompt: Prompt) -> None:
        model = build_scripted_model(*[DOWN] * 9)
        with pytest.raises(ModelUnavailableError, match=r"test:0: .*retries failed .*down"):
            request(make_client(model, attempts=attempts), prompt)
        assert len(model.prompts) == attempts

    def test_waits_grow(
        self, prompt: Prompt, events: list[Event], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waits = self._waits_of([DOWN] * 5, prompt, events, monkeypatch)
        assert len(waits) == 5
        for number, wait in enumerate(waits):
            assert 2**number <= wait <= 2**number + 1  # doubled each time, with up to 1 s of jitter

    def test_retry_after_header_is_followed(
        self, prompt: Prompt, events: list[Event], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = ModelRateLimitError("slow down")
        asked.response = SimpleNamespace(headers={"retry-after": "17"})  # type: ignore[attr-defined]
        assert self._waits_of([asked], prompt, events, monkeypatch) == [17.0]

    @staticmethod
    def _waits_of(
        faults: list[ModelAPIError | ModelRateLimitError],
        prompt: Prompt,
        events: list[Event],
        monkeypatch: pytest.MonkeyPatch,
    ) -> list[float]:
        client = make_client(build_scripted_model(*faults, "fine"), emit=events.append)
        client.retry = RetryPolicy(9, 1.0)
        slept: list[float] = []

        async def sleep(seconds: float, *_: object) -> None:
            slept.append(seconds)

        with monkeypatch.context() as patch:
            patch.setattr(asyncio, "sleep", sleep)
            request(client, prompt)
        assert slept == [item.wait_s for item in events if isinstance(item, CallRetried)]
        return slept

    @pytest.mark.parametrize(
        ("error", "kind"),
        [(ModelAuthenticationError("no"), ModelRefusedError), (OSError("odd"), ModelFailure)],
    )
    def test_permanent_error_is_not_retried(
        self, error: Exception, kind: type[Exception], prompt: Prompt
    ) -> None:
        model = build_scripted_model(error, "fine")
        with pytest.raises(kind):
            request(make_client(model), prompt)
        assert len(model.prompts) == 1

    def test_failed_call_costs_nothing_and_is_not_logged(self, prompt: Prompt, path: Path) -> None:
        client = make_client(build_scripted_model(DOWN), attempts=1, log=ResponseLog(path))
        with pytest.raises(ModelUnavailableError):
            request(client, prompt)
        assert client.budget.calls == 0
        assert not path.exists()

    def test_exhausted_replay_is_not_retried(self, prompt: Prompt, events: list[Event]) -> None:
        client = make_client(ReplayChatModel([], "demo.jsonl"), emit=events.append)
        with pytest.raises(ReplayExhaustedError, match=TOOL):
            request(client, prompt)
        assert events == [CallStarted(TOOL), CallFailed(TOOL, "ReplayExhaustedError")]


class TestFallback:
    def test_fallback_is_used_when_the_model_is_down(
        self, prompt: Prompt, path: Path, events: list[Event]
    ) -> None:
        first, second = build_scripted_model(DOWN, DOWN, "late"), build_scripted_model(
            "fine", "fine too"
        )
        client = make_client(first, second, attempts=2, log=ResponseLog(path), emit=events.append)
        assert [request(client, prompt), request(client, prompt)] == ["fine", "fine too"]
        assert (len(first.prompts), len(second.prompts)) == (2, 2)
        assert [item.model for item in load_responses(path)] == ["test:1", "test:1"]
        (notice,) = [item for item in events if isinstance(item, Notice)]
        assert notice.text.endswith("; continuing with test:1")
        assert not client.has_fallback

    def test_unavailable_fallback_is_an_error(self, prompt: Prompt) -> None:
        with pytest.raises(ModelUnavailableError, match="test:1"):
            request(
                make_client(build_scripted_model(DOWN), build_scripted_model(DOWN), attempts=1),
                prompt,
            )

    def test_refused_key_does_not_use_the_fallback(self, prompt: Prompt) -> None:
        second = build_scripted_model("fine")
        with pytest.raises(ModelRefusedError):
            request(
                make_client(build_scripted_model(ModelAuthenticationError("no")), second), prompt
            )
        assert second.prompts == []

    def test_use_fallback_is_permanent(self, prompt: Prompt) -> None:
        client = make_client(build_scripted_model(), build_scripted_model("fine"))
        assert client.has_fallback
        client.use_fallback()
        assert request(client, prompt) == "fine"

    def test_concurrent_calls_switch_to_the_fallback_together(
        self, prompt: Prompt, path: Path, events: list[Event]
    ) -> None:
        """Code and tests are requested concurrently: both must use the fallback."""
        client = make_client(
            build_scripted_model(DOWN, DOWN),
            build_scripted_model("fine", "fine"),
            attempts=1,
            log=ResponseLog(path),
            emit=events.append,
        )

        async def both() -> list[str]:
            return list(await asyncio.gather(*(client.request(prompt, text_of) for _ in range(2))))

        assert asyncio.run(both()) == ["fine", "fine"]
        assert [item.model for item in load_responses(path)] == ["test:1", "test:1"]
        assert sum(isinstance(item, Notice) for item in events) == 1


class TestUsage:
    def test_usage_is_estimated_where_the_provider_gives_none(
        self, prompt: Prompt, path: Path
    ) -> None:
        client = make_client(build_scripted_model("a fine answer"), log=ResponseLog(path))
        request(client, prompt)
        expected = TokenCount(
            input_tokens=estimate_tokens(prompt.characters), output_tokens=estimate_tokens(13)
        )
        assert load_responses(path)[0].usage == expected
        assert client.budget.tokens == expected.total

    def test_budget_is_checked_before_the_call(self, prompt: Prompt) -> None:
        model = build_scripted_model("fine")
        with pytest.raises(BudgetExhaustedError):
            request(make_client(model, budget=Budget(max_tokens=1)), prompt)
        assert model.prompts == []

    def test_logged_answers_count_towards_a_resumed_runs_budget(
        self, prompt: Prompt, path: Path
    ) -> None:
        request(
            make_client(
                build_scripted_model(message("fine", usage=(90, 9))), log=ResponseLog(path)
            ),
            prompt,
        )
        client = make_client(
            build_scripted_model("new"), log=ResponseLog(path), budget=Budget(max_tokens=100)
        )
        request(client, prompt)
        with pytest.raises(BudgetExhaustedError, match="99 tokens used"):
            request(client, prompt)

    def test_recorded_run_needs_no_known_price(self, prompt: Prompt) -> None:
        model = ReplayChatModel([RecordedResponse(tool=TOOL, answer="fine")])
        assert request(make_client(model, budget=Budget(max_cost=0.01)), prompt) == "fine"

    def test_replay_keeps_the_recorded_model(self, prompt: Prompt, path: Path) -> None:
        model = ReplayChatModel([RecordedResponse(tool=TOOL, answer="fine", model="openai:gpt-4o")])
        request(make_client(model, log=ResponseLog(path)), prompt)
        assert load_responses(path)[0].model == "openai:gpt-4o"


class TestCutPrompt:
    LONG = Prompt(TOOL, (Message("user", "word " * 2000),))

    def notices(self, *counts: int) -> list[str]:
        seen: list[Event] = []
        answers = [message("x", usage=(count, 1)) for count in counts]
        client = make_client(build_scripted_model(*answers), emit=seen.append)
        for _ in counts:
            request(client, self.LONG)
        return [item.text for item in seen if isinstance(item, Notice)]

    def test_is_said_once_with_the_remedy(self) -> None:
        (text,) = self.notices(1000, 1000)
        assert "read 1,000 of about 2,500 tokens" in text
        assert "OLLAMA_CONTEXT_LENGTH" in text

    @pytest.mark.parametrize("tokens", [0, 1500, 2500])
    def test_a_prompt_that_was_read_is_not_mentioned(self, tokens: int) -> None:
        assert self.notices(tokens) == []
