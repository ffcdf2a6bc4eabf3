"""The one way to the model: log first, budget, call, retry, log again, read, ask once more."""

from __future__ import annotations

import asyncio
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
from greenloop.llm.budget import Budget, estimate_tokens
from greenloop.llm.chat import ChatSource
from greenloop.llm.client import LLMClient, RetryPolicy
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.replay import ReplayChatModel
from greenloop.llm.response import LLMResponse
from greenloop.llm.response_log import (
    RecordedFault,
    RecordedResponse,
    ResponseLog,
    TokenCount,
    load_responses,
)
from greenloop.prompts import Message, Prompt
from tests.support.scripted import Scripted, ScriptedModel, message

TOOL = "generate_code"
DOWN = ModelAPIError("down")


def scripted(*answers: Scripted) -> ScriptedModel:
    return ScriptedModel(answers={TOOL: answers})


def asker(*models: ScriptedModel | ReplayChatModel, attempts: int = 3, **more: object) -> LLMClient:
    sources = [
        ChatSource(f"test:{number}", model, is_recorded=isinstance(model, ReplayChatModel))
        for number, model in enumerate(models)
    ]
    return LLMClient(sources, retry=RetryPolicy(attempts, 0.0), **more)  # type: ignore[arg-type]


def text_of(answer: LLMResponse) -> str:
    """The reader of these tests: 'bad' answers lack their form."""
    if answer.text.startswith("bad"):
        raise InvalidResponse(f"{answer.text} will not do")
    return answer.text


def ask(asks: LLMClient, prompt: Prompt) -> str:
    return asyncio.run(asks.request(prompt, text_of))


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


def test_a_good_answer_is_read_and_told_of(prompt: Prompt, events: list[Event]) -> None:
    model = scripted(message("fine", usage=(7, 3)))
    assert ask(asker(model, emit=events.append), prompt) == "fine"
    assert [item.type for item in model.prompts[0][1]] == ["system", "human"]
    assert model.asked(TOOL) == ["Write.\n\nto_roman"]
    started, progress, finished = events
    assert started == CallStarted(TOOL)
    assert progress == CallProgress(TOOL, 4)
    assert isinstance(finished, CallFinished)
    assert (finished.tokens, finished.source) == (10, "model")


class TestLog:
    def test_an_answer_is_logged_before_it_is_read(self, prompt: Prompt, path: Path) -> None:
        def read(answer: LLMResponse) -> str:
            return load_responses(path)[-1].answer + "!"

        asks = asker(scripted(message("fine", usage=(7, 3))), log=ResponseLog(path))
        assert asyncio.run(asks.request(prompt, read)) == "fine!"
        (entry,) = load_responses(path)
        assert (entry.tool, entry.prompt_sha256, entry.model) == (TOOL, prompt.sha256, "test:0")
        assert entry.usage == TokenCount(input_tokens=7, output_tokens=3)
        assert entry.error is None
        assert entry.seconds is not None

    def test_a_held_answer_is_served_without_a_call(
        self, prompt: Prompt, path: Path, events: list[Event]
    ) -> None:
        ask(asker(scripted(message("fine", usage=(7, 3))), log=ResponseLog(path)), prompt)
        model, before = scripted(), path.read_bytes()
        asks = asker(model, log=ResponseLog(path), emit=events.append)
        assert ask(asks, prompt) == "fine"
        assert model.prompts == []
        assert path.read_bytes() == before
        assert events == [CallStarted(TOOL), CallFinished(TOOL, 0.0, 10, "log", "test:0", 7, 3)]
        assert asks.budget.tokens == 10  # it was paid for, so it counts towards the budget

    def test_another_prompt_is_not_served_from_the_log(self, prompt: Prompt, path: Path) -> None:
        ask(asker(scripted("fine"), log=ResponseLog(path)), prompt)
        other = Prompt(TOOL, (*prompt.messages, Message("user", "more")))
        assert ask(asker(scripted("new"), log=ResponseLog(path)), other) == "new"

    def test_a_resumed_re_ask_is_not_paid_for_again(self, prompt: Prompt, path: Path) -> None:
        assert ask(asker(scripted("bad", "fine"), log=ResponseLog(path)), prompt) == "fine"
        assert ask(asker(scripted(), log=ResponseLog(path)), prompt) == "fine"

    def test_an_answer_cut_off_is_still_cut_off_when_resumed(
        self, prompt: Prompt, path: Path
    ) -> None:
        for model in (scripted(message("half", finish="length")), scripted()):
            asks = asker(model, log=ResponseLog(path))
            assert asyncio.run(asks.request(prompt, lambda answer: answer)).is_truncated
        assert load_responses(path)[0].error == "truncated"

    def test_an_answer_that_cannot_be_logged_is_not_used(self, prompt: Prompt, path: Path) -> None:
        log = ResponseLog(path)
        path.symlink_to("/dev/full")
        with pytest.raises(OutputError):
            asyncio.run(asker(scripted("fine"), log=log).request(prompt, pytest.fail))

    def test_half_a_surrogate_pair_can_be_logged(self, prompt: Prompt, path: Path) -> None:
        assert ask(asker(scripted("a\ud800b"), log=ResponseLog(path)), prompt) == "a?b"

    def test_a_resumed_replay_goes_on_behind_what_was_used(
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

        assert ask(asker(replay(), log=ResponseLog(path)), prompt) == "one"
        asks = asker(replay(), log=ResponseLog(path))
        assert [ask(asks, prompt), ask(asks, prompt)] == ["one", "two"]


class TestAskingAgain:
    def test_an_unusable_answer_is_asked_for_again_with_the_complaint(
        self, prompt: Prompt, events: list[Event]
    ) -> None:
        model = scripted("bad one", "fine")
        assert ask(asker(model, emit=events.append), prompt) == "fine"
        assert ResponseRejected(TOOL, "bad one will not do") in events
        first, second = (messages for _, messages in model.prompts)
        assert second[: len(first)] == first
        assert [(item.type, item.text) for item in second[len(first) :]] == [
            ("ai", "bad one"),
            ("human", "bad one will not do"),
        ]

    def test_a_second_unusable_answer_ends_the_call(self, prompt: Prompt) -> None:
        model = scripted("bad one", "bad two", "fine")
        with pytest.raises(
            InvalidResponseError, match=r"generate_code: .*twice.*: bad two will not"
        ):
            ask(asker(model), prompt)
        assert model.unused == {TOOL: 1}

    def test_both_answers_are_paid_for(self, prompt: Prompt) -> None:
        asks = asker(scripted(message("bad", usage=(1, 2)), message("fine", usage=(3, 4))))
        ask(asks, prompt)
        assert (asks.budget.calls, asks.budget.tokens) == (2, 10)

    def test_an_error_of_the_reader_that_is_no_complaint_passes(self, prompt: Prompt) -> None:
        def read(_answer: LLMResponse) -> None:
            raise ZeroDivisionError

        model = scripted("fine", "fine")
        with pytest.raises(ZeroDivisionError):
            asyncio.run(asker(model).request(prompt, read))
        assert len(model.prompts) == 1


class TestRetries:
    def test_a_fault_that_may_pass_is_tried_again(
        self, prompt: Prompt, events: list[Event]
    ) -> None:
        model = scripted(ModelRateLimitError("slow down"), ConnectionResetError("gone"), "fine")
        assert ask(asker(model, emit=events.append), prompt) == "fine"
        assert [item for item in events if isinstance(item, CallRetried)] == [
            CallRetried(TOOL, "ModelRateLimitError: slow down", 1, 0.0),
            CallRetried(TOOL, "ConnectionResetError: gone", 2, 0.0),
        ]

    @pytest.mark.parametrize("attempts", [1, 2, 5])
    def test_it_is_tried_as_often_as_the_policy_says(self, attempts: int, prompt: Prompt) -> None:
        model = scripted(*[DOWN] * 9)
        with pytest.raises(ModelUnavailableError, match=r"test:0: .*retries failed .*down"):
            ask(asker(model, attempts=attempts), prompt)
        assert len(model.prompts) == attempts

    def test_the_waits_grow(
        self, prompt: Prompt, events: list[Event], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waits = self._waits_of([DOWN] * 5, prompt, events, monkeypatch)
        assert len(waits) == 5
        for number, wait in enumerate(waits):
            assert 2**number <= wait <= 2**number + 1  # doubled each time, with up to 1 s of jitter

    def test_the_provider_is_obeyed_when_it_says_how_long_to_wait(
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
        asks = asker(scripted(*faults, "fine"), emit=events.append)
        asks.retry = RetryPolicy(9, 1.0)
        slept: list[float] = []

        async def sleep(seconds: float, *_: object) -> None:
            slept.append(seconds)

        with monkeypatch.context() as patch:
            patch.setattr(asyncio, "sleep", sleep)
            ask(asks, prompt)
        assert slept == [item.wait_s for item in events if isinstance(item, CallRetried)]
        return slept

    @pytest.mark.parametrize(
        ("error", "kind"),
        [(ModelAuthenticationError("no"), ModelRefusedError), (OSError("odd"), ModelFailure)],
    )
    def test_a_fault_that_stays_is_not_tried_again(
        self, error: Exception, kind: type[Exception], prompt: Prompt
    ) -> None:
        model = scripted(error, "fine")
        with pytest.raises(kind):
            ask(asker(model), prompt)
        assert len(model.prompts) == 1

    def test_a_failed_call_costs_nothing_and_is_not_logged(
        self, prompt: Prompt, path: Path
    ) -> None:
        asks = asker(scripted(DOWN), attempts=1, log=ResponseLog(path))
        with pytest.raises(ModelUnavailableError):
            ask(asks, prompt)
        assert asks.budget.calls == 0
        assert not path.exists()

    def test_an_exhausted_replay_is_not_tried_again(
        self, prompt: Prompt, events: list[Event]
    ) -> None:
        asks = asker(ReplayChatModel([], "demo.jsonl"), emit=events.append)
        with pytest.raises(ReplayExhaustedError, match=TOOL):
            ask(asks, prompt)
        assert events == [CallStarted(TOOL), CallFailed(TOOL, "ReplayExhaustedError")]


class TestFallback:
    def test_the_fallback_is_asked_when_the_model_is_down(
        self, prompt: Prompt, path: Path, events: list[Event]
    ) -> None:
        first, second = scripted(DOWN, DOWN, "late"), scripted("fine", "fine too")
        asks = asker(first, second, attempts=2, log=ResponseLog(path), emit=events.append)
        assert [ask(asks, prompt), ask(asks, prompt)] == ["fine", "fine too"]
        assert (len(first.prompts), len(second.prompts)) == (2, 2)
        assert [item.model for item in load_responses(path)] == ["test:1", "test:1"]
        (notice,) = [item for item in events if isinstance(item, Notice)]
        assert notice.text.endswith("; continuing with test:1")
        assert not asks.has_fallback

    def test_a_fallback_that_is_down_too_ends_the_call(self, prompt: Prompt) -> None:
        with pytest.raises(ModelUnavailableError, match="test:1"):
            ask(asker(scripted(DOWN), scripted(DOWN), attempts=1), prompt)

    def test_a_refused_key_is_no_case_for_the_fallback(self, prompt: Prompt) -> None:
        second = scripted("fine")
        with pytest.raises(ModelRefusedError):
            ask(asker(scripted(ModelAuthenticationError("no")), second), prompt)
        assert second.prompts == []

    def test_use_fallback_changes_over_for_good(self, prompt: Prompt) -> None:
        asks = asker(scripted(), scripted("fine"))
        assert asks.has_fallback
        asks.use_fallback()
        assert ask(asks, prompt) == "fine"

    def test_calls_side_by_side_change_over_together(
        self, prompt: Prompt, path: Path, events: list[Event]
    ) -> None:
        """Code and tests are asked for at the same time: both must find the fallback."""
        asks = asker(
            scripted(DOWN, DOWN),
            scripted("fine", "fine"),
            attempts=1,
            log=ResponseLog(path),
            emit=events.append,
        )

        async def both() -> list[str]:
            return list(await asyncio.gather(*(asks.request(prompt, text_of) for _ in range(2))))

        assert asyncio.run(both()) == ["fine", "fine"]
        assert [item.model for item in load_responses(path)] == ["test:1", "test:1"]
        assert sum(isinstance(item, Notice) for item in events) == 1


class TestUsage:
    def test_usage_is_estimated_where_the_provider_gives_none(
        self, prompt: Prompt, path: Path
    ) -> None:
        asks = asker(scripted("a fine answer"), log=ResponseLog(path))
        ask(asks, prompt)
        expected = TokenCount(
            input_tokens=estimate_tokens(prompt.characters), output_tokens=estimate_tokens(13)
        )
        assert load_responses(path)[0].usage == expected
        assert asks.budget.tokens == expected.total

    def test_the_budget_is_asked_before_the_call(self, prompt: Prompt) -> None:
        model = scripted("fine")
        with pytest.raises(BudgetExhaustedError):
            ask(asker(model, budget=Budget(max_tokens=1)), prompt)
        assert model.prompts == []

    def test_what_a_resumed_run_was_served_counts_towards_its_budget(
        self, prompt: Prompt, path: Path
    ) -> None:
        ask(asker(scripted(message("fine", usage=(90, 9))), log=ResponseLog(path)), prompt)
        asks = asker(scripted("new"), log=ResponseLog(path), budget=Budget(max_tokens=100))
        ask(asks, prompt)
        with pytest.raises(BudgetExhaustedError, match="99 tokens used"):
            ask(asks, prompt)

    def test_a_recorded_run_needs_no_known_price(self, prompt: Prompt) -> None:
        model = ReplayChatModel([RecordedResponse(tool=TOOL, answer="fine")])
        assert ask(asker(model, budget=Budget(max_cost=0.01)), prompt) == "fine"

    def test_a_replay_keeps_the_model_that_was_recorded(self, prompt: Prompt, path: Path) -> None:
        model = ReplayChatModel([RecordedResponse(tool=TOOL, answer="fine", model="openai:gpt-4o")])
        ask(asker(model, log=ResponseLog(path)), prompt)
        assert load_responses(path)[0].model == "openai:gpt-4o"
