"""What servers send in place of an answer, and what they refuse of a request."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from greenloop.errors import InvalidResponseError, ModelRefusedError
from greenloop.events import Event, Notice
from greenloop.llm.response import extract_text
from greenloop.prompts import Prompt
from tests.integration.llm.test_openai_client import ask, serve_replies
from tests.support.openai_server import Reply

ANSWER = "fine and complete"
WHOLE = {
    "id": "1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": ANSWER},
        }
    ],
}


def refuse(text: str) -> Reply:
    return Reply(text, status=400)


def keys_of(request: dict[str, Any]) -> tuple[bool, bool, str]:
    roles = request["messages"][0]["role"]
    return bool(request.get("stream")), "stream_options" in request, roles


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Extra inputs are not permitted: ('body', 'stream_options')", (True, False, "system")),
        ("streaming is not supported by this deployment", (False, False, "system")),
        ("Conversation roles must alternate user/assistant/user", (True, True, "user")),
    ],
)
def test_what_a_server_refuses_is_left_out_and_remembered(
    prompt: Prompt, said: str, left: tuple[bool, bool, str]
) -> None:
    with serve_replies(refuse(said), Reply(ANSWER)) as (server, client):
        assert ask(client, prompt).text == ANSWER
        assert ask(client, prompt).text == ANSWER
    assert [keys_of(item) for item in server.requests] == [(True, True, "system"), left, left]


def test_prompt_without_a_system_message_is_sent_as_it_is(prompt: Prompt) -> None:
    plain = replace(prompt, messages=prompt.messages[1:])
    with serve_replies(refuse("System role not supported"), Reply(ANSWER)) as (server, client):
        ask(client, prompt)
        ask(client, plain)
    assert server.requests[-1]["messages"][0]["content"] == plain.messages[0].text


def test_another_refusal_is_one(prompt: Prompt) -> None:
    served = serve_replies(refuse("maximum context length is 4096"))
    with served as (server, client), pytest.raises(ModelRefusedError, match="context length"):
        ask(client, prompt)
    assert len(server.requests) == 1


def test_whole_answer_in_place_of_a_stream(prompt: Prompt) -> None:
    body = Reply(body=json.dumps(WHOLE), kind="application/json")
    with serve_replies(body) as (server, client):
        assert ask(client, prompt).text == ANSWER
    assert [bool(item.get("stream")) for item in server.requests] == [True, False]


def test_stream_though_none_was_asked_for(prompt: Prompt) -> None:
    chunk = {"choices": [{"delta": {"content": ANSWER}, "finish_reason": "stop"}]}
    events = Reply(body=f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n", kind="text/event-stream")
    with serve_replies(refuse("no streaming"), events) as (_, client):
        assert ask(client, prompt).text == ANSWER


def test_error_with_status_200_is_what_the_server_says(prompt: Prompt) -> None:
    error = {"error": {"message": "no endpoints found that support this", "code": 404}}
    body = Reply(body=json.dumps(error), kind="application/json")
    said = pytest.raises(ModelRefusedError, match="the server says: no endpoints found")
    with serve_replies(body) as (_, client), said as caught:
        ask(client, prompt)
    assert "BASE_URL" not in str(caught.value)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_answer_among_the_reasoning(prompt: Prompt, name: str) -> None:
    with serve_replies(Reply(delta={"content": None, name: ANSWER})) as (_, client):
        assert ask(client, prompt).text == ANSWER


def test_reasoning_before_an_answer_is_left_out(prompt: Prompt) -> None:
    reply = Reply(ANSWER, delta={"content": None, "reasoning_content": "Hm."})
    with serve_replies(reply) as (_, client):
        assert ask(client, prompt).text == ANSWER


@pytest.mark.parametrize("is_legacy", [False, True])
def test_code_in_a_call(prompt: Prompt, is_legacy: bool) -> None:
    function = {"name": "python", "arguments": json.dumps({"path": "x", "code": ANSWER})}
    call = {"index": 0, "id": "c1", "type": "function", "function": function}
    delta = {"function_call": function} if is_legacy else {"tool_calls": [call]}
    with serve_replies(Reply(delta={"content": None, **delta})) as (_, client):
        assert ask(client, prompt).text == ANSWER


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply("", finish="content_filter"), "content filter withholds the answer"),
        (Reply("", finish="SAFETY"), "content filter withholds the answer"),
        (Reply(""), "sent no text"),
        (Reply(delta={"content": None, "refusal": "I'm sorry, no."}), "declines the task"),
        (
            Reply(delta={"content": None, "reasoning_content": "Hm …"}, finish="length"),
            "went into its reasoning: raise the server's limit",
        ),
    ],
)
def test_what_came_instead_has_a_remedy(prompt: Prompt, reply: Reply, said: str) -> None:
    with serve_replies(reply) as (_, client), pytest.raises(InvalidResponseError, match=said):
        asyncio.run(client.request(prompt, extract_text))


def test_usage_that_is_missing_is_said_to_be_estimated(prompt: Prompt) -> None:
    events: list[Event] = []
    with serve_replies(Reply(ANSWER, usage=None)) as (_, client):
        client.emit = events.append
        ask(client, prompt)
        ask(client, prompt)
    notices = [item.text for item in events if isinstance(item, Notice)]
    assert [item.partition(" reports")[2] for item in notices] == [
        " no usage: tokens are estimated"
    ]
