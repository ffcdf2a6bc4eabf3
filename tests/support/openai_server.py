"""A local server for the part of OpenAI's chat completions API that is used, with faults."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.support.local_server import LocalHandler, LocalServer

_PIECE = 400


@dataclass(frozen=True)
class Reply:
    """An answer. A `status` other than 200 is an error; `drop` closes the connection mid-stream.

    `delay_s` is the wait before the answer, `pause_s` the wait between its chunks.
    """

    text: str = ""
    status: int = 200
    finish: str | None = "stop"
    usage: tuple[int, int] | None = (100, 50)
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    pause_s: float = 0.0
    drop: bool = False
    body: str | None = None
    kind: str = "text/html"  # of the body
    delta: dict[str, Any] | None = None  # a chunk of its own before the text


Respond = Callable[[dict[str, Any]], Reply]


def tool_of(request: dict[str, Any]) -> str:
    """Return the greenloop tool that made a request, found by its system prompt."""
    system = str(request["messages"][0]["content"])
    marks = {
        "You turn a specification": "parse_specification",
        "You write one Python module": "generate_code",
        "You write pytest tests of a change": "write_change_tests",
        "You write pytest tests": "generate_tests",  # harden_tests too: servers answer both alike
        "You review a Python module": "review_code",
        "You repair a Python module": "repair_code",
        "You judge a dispute about one test": "judge_test",
        "You write a plain Python module": "write_peer",
        "Two programs were written": "judge_difference",
        "You judge a dispute about one check": "judge_check",
        "You say how the output": "propose_checks",
        "You write one Python script": "write_script",
        "You repair a Python script": "repair_script",
        "You repair an existing": "repair_code",
        "You find the files of a Python project": "locate_change",
        "You turn a wish": "plan_change",
        "You check a contract": "review_code",
        "You change a Python project as a person": "write_peer",
        "You change a Python project": "write_change",
        "You repair a change": "repair_change",
    }
    return next((tool for mark, tool in marks.items() if system.startswith(mark)), "unknown")


class OpenAIServer(LocalServer):
    """Server that answers as `respond` says; all requests are kept."""

    def __init__(self, respond: Respond, models: tuple[str, ...] = ()) -> None:
        self.respond = respond
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self._lock = threading.Lock()
        outer = self

        class Handler(LocalHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                data = [{"id": name, "object": "model"} for name in models]
                tags = [{"name": name} for name in models]
                _json(self, 200, {"object": "list", "data": data, "models": tags})

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["content-length"])))
                with outer._lock:
                    outer.requests.append(request)
                    outer.keys.append(self.headers.get("authorization"))
                _answer(self, outer.respond(request), bool(request.get("stream")))

        super().__init__(Handler, "/v1")

    def tools(self) -> list[str]:
        """Return the tools of the requests, in order."""
        return [tool_of(item) for item in self.requests]


def _answer(handler: BaseHTTPRequestHandler, reply: Reply, stream: bool) -> None:
    time.sleep(reply.delay_s)
    try:
        if reply.status != 200:
            body = {"error": {"message": reply.text or "fault", "type": "fault", "code": None}}
            _json(handler, reply.status, body, reply.headers)
        elif reply.body is not None:
            _raw(handler, 200, reply.body.encode(), reply.kind, {})
        elif stream:
            _stream(handler, reply)
        else:
            _json(handler, 200, _completion(reply))
    except (BrokenPipeError, ConnectionResetError):
        return


def _json(
    handler: BaseHTTPRequestHandler,
    status: int,
    body: dict[str, Any],
    headers: dict[str, str] | None = None,
) -> None:
    _raw(handler, status, json.dumps(body).encode(), "application/json", headers or {})


def _raw(
    handler: BaseHTTPRequestHandler, status: int, data: bytes, kind: str, headers: dict[str, str]
) -> None:
    handler.send_response(status)
    handler.send_header("content-type", kind)
    handler.send_header("content-length", str(len(data)))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


def _usage(reply: Reply) -> dict[str, int] | None:
    if reply.usage is None:
        return None
    into, out = reply.usage
    return {"prompt_tokens": into, "completion_tokens": out, "total_tokens": into + out}


def _completion(reply: Reply) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish}
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "served"}
    return {**head, "choices": [choice], "usage": _usage(reply)}


def _stream(handler: BaseHTTPRequestHandler, reply: Reply) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    for event in _events(reply):
        data = f"data: {event}\n\n".encode()
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        handler.wfile.flush()
        time.sleep(reply.pause_s)
    if reply.drop:
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)
    else:
        handler.wfile.write(b"0\r\n\r\n")


def _events(reply: Reply) -> Iterator[str]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return json.dumps({**head, "choices": [choice]})

    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "served"}
    yield chunk({"role": "assistant", "content": ""})
    if reply.delta is not None:
        yield chunk(reply.delta)
    text = reply.text[: len(reply.text) // 2] if reply.drop else reply.text
    for start in range(0, len(text), _PIECE):
        yield chunk({"content": text[start : start + _PIECE]})
    if reply.drop:
        return
    yield chunk({}, reply.finish)
    usage = _usage(reply)
    if usage is not None:
        yield json.dumps({**head, "choices": [], "usage": usage})
    yield "[DONE]"
