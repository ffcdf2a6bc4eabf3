"""LangChain's OpenAI client against a local server: requests and faults."""

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
from greenloop.llm.budget import TokenCount, estimate_tokens
from greenloop.llm.client import LLMClient, RetryPolicy
from greenloop.llm.factory import open_sources
from greenloop.llm.response import LLMResponse
from greenloop.prompts import Prompt
from greenloop.settings import Settings
from tests.support.openai_server import OpenAIServer, Reply

LONG = "".join(f"def f{n:02}():\n    return 'ü'\n" for n in range(100))


@contextmanager
def serve_replies(*replies: Reply, **settings: Any) -> Iterator[tuple[OpenAIServer, LLMClient]]:
    """Serve these replies in order, the last one repeatedly; yield the server and a client."""
    left = list(replies)

    def respond(_request: dict[str, Any]) -> Reply:
        return left.pop(0) if len(left) > 1 else left[0]

    with OpenAIServer(respond) as server:
        given = {"openai_base_url": server.url, "openai_api_key": "sk-test-key", **settings}
        sources = open_sources(Settings.load(model="openai:test-model", **given))
        yield server, LLMClient(sources, retry=RetryPolicy(4, 0.0))


def ask(client: LLMClient, prompt: Prompt) -> LLMResponse:
    return asyncio.run(client.request(prompt, lambda answer: answer))


def test_request_follows_the_settings(prompt: Prompt) -> None:
    with serve_replies(Reply("fine")) as (server, client):
        ask(client, prompt)
    (request,) = server.requests
    assert server.keys == ["Bearer sk-test-key"]
    assert request["model"] == "test-model"
    assert request["messages"] == [
        {"role": "system", "content": "Write."},
        {"role": "user", "content": "to_roman"},
    ]
    assert request["stream"] is True
    assert request["stream_options"] == {"include_usage": True}


def test_streamed_answer_is_complete_and_counted(prompt: Prompt) -> None:
    with serve_replies(Reply(LONG, usage=(321, 123))) as (_, client):
        events: list[Event] = []
        client.emit = events.append
        answer = ask(client, prompt)
    assert (answer.text, answer.finish_reason) == (LONG, "stop")
    usage = client.budget.to_usage()
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (1, 321, 123)
    counts = [item.characters for item in events if isinstance(item, CallProgress)]
    assert counts == sorted(set(counts))  # none without new text
    assert len(set(counts)) > 3
    assert counts[-1] == len(LONG)


def test_usage_is_estimated_where_the_server_gives_none(prompt: Prompt) -> None:
    with serve_replies(Reply(LONG, usage=None)) as (_, client):
        ask(client, prompt)
    assert (
        client.budget.tokens
        == TokenCount(
            input_tokens=estimate_tokens(prompt.characters),
            output_tokens=estimate_tokens(len(LONG)),
        ).total
    )


def test_truncated_answer_is_marked(prompt: Prompt) -> None:
    with serve_replies(Reply(LONG, finish="length")) as (_, client):
        assert ask(client, prompt).is_truncated


FAULTS = {
    "429": Reply(status=429),
    "408": Reply(status=408),
    "409": Reply(status=409),
    "500": Reply(status=500),
    "503": Reply(status=503),
    "html": Reply(body="<html><body>Sign in to the network</body></html>"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_transient_fault_is_retried(fault: Reply, prompt: Prompt) -> None:
    with serve_replies(fault, Reply("fine")) as (server, client):
        assert ask(client, prompt).text == "fine"
    assert len(server.requests) == 2
    assert client.budget.calls == 1


CHUNK = '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[%s]}'
HALF = CHUNK % '{"index":0,"delta":{"role":"assistant","content":"ha"},"finish_reason":null}'
REST = CHUNK % '{"index":0,"delta":{"content":"lf"},"finish_reason":"stop"}'
ERROR = '{"error":{"message":"The server had an error","type":"server_error"}}'


def stream(*events: str, length: int = 0) -> bytes:
    """Return a streamed answer; with a `length` beyond its end it is aborted in the middle."""
    body = "".join(f"data: {event}\n\n" for event in events).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length or len(body)}"
    return f"{head}\r\nconnection: close\r\n\r\n".encode() + body


@contextmanager
def raw(*answers: bytes) -> Iterator[str]:
    """Send these bytes to each connection in turn and close it."""
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
def test_aborted_stream_is_requested_again(broken: bytes, prompt: Prompt) -> None:
    with raw(broken, stream(HALF, REST, "[DONE]")) as url:
        settings = Settings.load(model="openai:test-model", openai_base_url=url)
        client = LLMClient(open_sources(settings), retry=RetryPolicy(2, 0.0))
        assert ask(client, prompt).text == "half"


def test_consecutive_faults_are_retried(prompt: Prompt) -> None:
    limit = Reply(status=429)
    with serve_replies(limit, limit, Reply(status=500), Reply("fine")) as (server, client):
        assert ask(client, prompt).text == "fine"
    assert len(server.requests) == 4


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_client_makes_no_retries_of_its_own_and_the_error_has_the_cause(
    fault: Reply, prompt: Prompt
) -> None:
    with serve_replies(fault) as (server, client):
        client.retry = RetryPolicy(2, 0.0)
        with pytest.raises(
            ModelUnavailableError, match=r"^openai-compatible:test-model: .* retries failed"
        ):
            ask(client, prompt)
    # A body that is no answer to a stream is asked for once more without streaming.
    assert len(server.requests) == 2 + (fault.body is not None)


def test_server_that_never_answered_as_a_model_is_given_up_soon(prompt: Prompt) -> None:
    with serve_replies(FAULTS["html"]) as (server, client):
        client.retry = RetryPolicy(6, 0.0)
        with pytest.raises(ModelUnavailableError, match="does not send an answer of a model"):
            ask(client, prompt)
    assert len(server.requests) == 4  # the first once more without streaming
    with serve_replies(Reply("fine"), FAULTS["html"]) as (server, client):
        client.retry = RetryPolicy(6, 0.0)
        ask(client, prompt)
        with pytest.raises(ModelUnavailableError):
            ask(client, prompt)
    assert len(server.requests) == 8


def test_retry_after_of_the_server_is_followed(prompt: Prompt) -> None:
    with serve_replies(Reply(status=429, headers={"retry-after": "0.05"}), Reply("fine")) as (
        _,
        client,
    ):
        events: list[Event] = []
        client.emit = events.append
        ask(client, prompt)
    assert [item.wait_s for item in events if isinstance(item, CallRetried)] == [0.05]


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_refusal_takes_one_request_and_hides_the_key(status: int, prompt: Prompt) -> None:
    said = "Incorrect API key provided: sk-test-key. See https://example.org"
    served_once = serve_replies(Reply(said, status=status))
    with served_once as (server, client), pytest.raises(ModelRefusedError) as caught:
        ask(client, prompt)
    assert len(server.requests) == 1
    assert "sk-test-key" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_exhausted_quota_takes_one_request(prompt: Prompt) -> None:
    served_once = serve_replies(Reply("insufficient_quota: you exceeded it", status=429))
    with served_once as (server, client), pytest.raises(ModelRefusedError, match="no quota"):
        ask(client, prompt)
    assert len(server.requests) == 1


def test_timeout_of_the_settings_applies(prompt: Prompt) -> None:
    started = time.monotonic()
    with serve_replies(Reply("late", delay_s=20), model_timeout_s=0.2) as (_, client):
        client.retry = RetryPolicy(2, 0.0)
        with pytest.raises(ModelUnavailableError, match=r"(?i)time"):
            ask(client, prompt)
        assert time.monotonic() - started < 15


def test_missing_server_is_unavailable(prompt: Prompt) -> None:
    with serve_replies(Reply("fine")) as (_, client):
        pass
    with pytest.raises(ModelUnavailableError, match=r"127\.0\.0\.1:\d+ is not reachable"):
        ask(client, prompt)


def test_one_client_works_in_several_event_loops(prompt: Prompt) -> None:
    with serve_replies(Reply("fine")) as (server, client):
        assert [ask(client, prompt).text for _ in range(3)] == ["fine"] * 3
    assert len(server.requests) == 3


def test_calls_are_concurrent(prompt: Prompt) -> None:
    together = threading.Barrier(4)

    def respond(_request: dict[str, Any]) -> Reply:
        together.wait(10)  # no reply before all requests have arrived
        return Reply("fine")

    async def all_at_once(client: LLMClient) -> list[LLMResponse]:
        calls = (client.request(prompt, lambda answer: answer) for _ in range(4))
        return list(await asyncio.gather(*calls))

    with OpenAIServer(respond) as server:
        settings = Settings.load(model="openai:test-model", openai_base_url=server.url)
        client = LLMClient(open_sources(settings), retry=RetryPolicy(1, 0.0))
        assert [item.text for item in asyncio.run(all_at_once(client))] == ["fine"] * 4
