"""LangChain's real OpenAI client against a local server: what goes out, and what faults come in."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from greenloop.errors import ModelRefusedError, ModelUnavailableError
from greenloop.events import CallProgress, CallRetried, Event
from greenloop.llm.budget import estimate_tokens
from greenloop.llm.client import LLMClient, RetryPolicy
from greenloop.llm.factory import open_sources
from greenloop.llm.response import LLMResponse
from greenloop.llm.response_log import TokenCount
from greenloop.prompts import Prompt
from greenloop.settings import Settings
from tests.support.openai_server import OpenAIServer, Reply

LONG = "def f():\n    return 'ü'\n" * 100


@contextmanager
def served(*replies: Reply, **settings: Any) -> Iterator[tuple[OpenAIServer, LLMClient]]:
    """A server that gives these replies in order (the last again and again), and who asks it."""
    left = list(replies)

    def respond(_request: dict[str, Any]) -> Reply:
        return left.pop(0) if len(left) > 1 else left[0]

    with OpenAIServer(respond) as server:
        given = {"openai_base_url": server.url, "openai_api_key": "sk-test-key", **settings}
        sources = open_sources(Settings.load(model="openai:test-model", **given))
        yield server, LLMClient(sources, retry=RetryPolicy(4, 0.0))


def ask(asks: LLMClient, prompt: Prompt) -> LLMResponse:
    return asyncio.run(asks.request(prompt, lambda answer: answer))


def test_what_goes_out_is_what_the_settings_say(prompt: Prompt) -> None:
    with served(Reply("fine")) as (server, asks):
        ask(asks, prompt)
    (request,) = server.requests
    assert server.keys == ["Bearer sk-test-key"]
    assert request["model"] == "test-model"
    assert request["messages"] == [
        {"role": "system", "content": "Write."},
        {"role": "user", "content": "to_roman"},
    ]
    assert request["stream"] is True
    assert request["stream_options"] == {"include_usage": True}


def test_a_streamed_answer_is_whole_and_its_usage_counted(prompt: Prompt) -> None:
    with served(Reply(LONG, usage=(321, 123))) as (_, asks):
        events: list[Event] = []
        asks.emit = events.append
        answer = ask(asks, prompt)
    assert answer == LLMResponse(LONG, "stop")
    usage = asks.budget.to_usage()
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (1, 321, 123)
    told = [item.characters for item in events if isinstance(item, CallProgress)]
    assert told == sorted(told)
    assert len(set(told)) > 3
    assert told[-1] == len(LONG)


def test_usage_is_estimated_where_the_server_gives_none(prompt: Prompt) -> None:
    with served(Reply(LONG, usage=None)) as (_, asks):
        ask(asks, prompt)
    assert (
        asks.budget.tokens
        == TokenCount(
            input_tokens=estimate_tokens(prompt.characters),
            output_tokens=estimate_tokens(len(LONG)),
        ).total
    )


def test_a_cut_off_answer_says_so(prompt: Prompt) -> None:
    with served(Reply(LONG, finish="length")) as (_, asks):
        assert ask(asks, prompt).is_truncated


FAULTS = {
    "429": Reply(status=429),
    "408": Reply(status=408),
    "409": Reply(status=409),
    "500": Reply(status=500),
    "503": Reply(status=503),
    "html": Reply(body="<html><body>Sign in to the network</body></html>"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_that_passes_is_tried_again(fault: Reply, prompt: Prompt) -> None:
    with served(fault, Reply("fine")) as (server, asks):
        assert ask(asks, prompt).text == "fine"
    assert len(server.requests) == 2
    assert asks.budget.calls == 1


CHUNK = '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[%s]}'
HALF = CHUNK % '{"index":0,"delta":{"role":"assistant","content":"ha"},"finish_reason":null}'
REST = CHUNK % '{"index":0,"delta":{"content":"lf"},"finish_reason":"stop"}'
ERROR = '{"error":{"message":"The server had an error","type":"server_error"}}'


def stream(*events: str, length: int = 0) -> bytes:
    """A streamed answer; with a `length` beyond its end it breaks off in the middle."""
    body = "".join(f"data: {event}\n\n" for event in events).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length or len(body)}"
    return f"{head}\r\nconnection: close\r\n\r\n".encode() + body


@contextmanager
def raw(*answers: bytes) -> Iterator[str]:
    """Gives each connection in turn these bytes, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for answer in answers:
                connection, _ = listening.accept()
                with connection, connection.makefile("rwb") as file:
                    head = b"".join(iter(file.readline, b"\r\n")).lower()
                    file.read(int(head.split(b"content-length:")[1].split()[0]))
                    file.write(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        thread.join(5)
        assert not thread.is_alive(), "not all answers were fetched"


@pytest.mark.parametrize(
    "broken",
    [stream(HALF, length=9999), stream(HALF, ERROR), b""],
    ids=["dropped in the middle", "error in the middle", "dropped at once"],
)
def test_a_stream_that_breaks_off_is_asked_for_anew(broken: bytes, prompt: Prompt) -> None:
    with raw(broken, stream(HALF, REST, "[DONE]")) as url:
        settings = Settings.load(model="openai:test-model", openai_base_url=url)
        asks = LLMClient(open_sources(settings), retry=RetryPolicy(2, 0.0))
        assert ask(asks, prompt) == LLMResponse("half", "stop")


def test_faults_may_come_one_after_the_other(prompt: Prompt) -> None:
    limit = Reply(status=429)
    with served(limit, limit, Reply(status=500), Reply("fine")) as (server, asks):
        assert ask(asks, prompt).text == "fine"
    assert len(server.requests) == 4


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_only_our_own_retries_count_and_the_end_says_why(fault: Reply, prompt: Prompt) -> None:
    with served(fault) as (server, asks):
        asks.retry = RetryPolicy(2, 0.0)
        with pytest.raises(
            ModelUnavailableError, match=r"^openai-compatible:test-model: .* retries failed"
        ):
            ask(asks, prompt)
    assert len(server.requests) == 2


def test_the_wait_that_the_server_asks_for_is_kept(prompt: Prompt) -> None:
    with served(Reply(status=429, headers={"retry-after": "0.05"}), Reply("fine")) as (_, asks):
        events: list[Event] = []
        asks.emit = events.append
        ask(asks, prompt)
    assert [item.wait_s for item in events if isinstance(item, CallRetried)] == [0.05]


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refusal_is_one_request_and_names_no_key(status: int, prompt: Prompt) -> None:
    said = "Incorrect API key provided: sk-test-key. See https://example.org"
    served_once = served(Reply(said, status=status))
    with served_once as (server, asks), pytest.raises(ModelRefusedError) as caught:
        ask(asks, prompt)
    assert len(server.requests) == 1
    assert "sk-test-key" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_account_without_quota_is_one_request(prompt: Prompt) -> None:
    served_once = served(Reply("insufficient_quota: you exceeded it", status=429))
    with served_once as (server, asks), pytest.raises(ModelRefusedError, match="no quota"):
        ask(asks, prompt)
    assert len(server.requests) == 1


def test_the_time_out_of_the_settings_is_kept(prompt: Prompt) -> None:
    started = time.monotonic()
    with served(Reply("late", delay_s=20), model_timeout_s=0.2) as (_, asks):
        asks.retry = RetryPolicy(2, 0.0)
        with pytest.raises(ModelUnavailableError, match=r"(?i)time"):
            ask(asks, prompt)
        assert time.monotonic() - started < 15


def test_a_server_that_is_not_there_is_unavailable(prompt: Prompt) -> None:
    with served(Reply("fine")) as (_, asks):
        pass
    with pytest.raises(ModelUnavailableError, match=r"(?i)connection"):
        ask(asks, prompt)


def test_one_asker_serves_several_event_loops(prompt: Prompt) -> None:
    with served(Reply("fine")) as (server, asks):
        assert [ask(asks, prompt).text for _ in range(3)] == ["fine"] * 3
    assert len(server.requests) == 3


def test_calls_go_out_side_by_side(prompt: Prompt) -> None:
    together = threading.Barrier(4)

    def respond(_request: dict[str, Any]) -> Reply:
        together.wait(10)  # nobody is answered before all have asked
        return Reply("fine")

    async def all_at_once(asks: LLMClient) -> list[LLMResponse]:
        calls = (asks.request(prompt, lambda answer: answer) for _ in range(4))
        return list(await asyncio.gather(*calls))

    with OpenAIServer(respond) as server:
        settings = Settings.load(model="openai:test-model", openai_base_url=server.url)
        asks = LLMClient(open_sources(settings), retry=RetryPolicy(1, 0.0))
        assert asyncio.run(all_at_once(asks)) == [LLMResponse("fine", "stop")] * 4
