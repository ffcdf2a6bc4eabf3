"""A model with a fixed delay: OpenAI's API on the loopback interface, for bench/batch.py.

    python bench/batch_model.py SECONDS        prints its address and serves until it is ended

It has an answer for each of five tools, about a function whose number it reads from the prompt.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from typing import Any

CODE = '''def scale_{n}(values, factor=1):
    """Each value times factor, without the ones below zero."""
    if factor < 0:
        raise ValueError("factor must not be negative")
    return [value * factor for value in values if value >= 0]
'''
TESTS = '''import pytest

from m{n} import scale_{n}


def test_scales():
    """R1: each value times factor."""
    assert scale_{n}([1, 2, 3], 2) == [2, 4, 6]


def test_leaves_out_what_is_below_zero():
    """R2: values below zero are left out."""
    assert scale_{n}([-1, 0, 5]) == [0, 5]


def test_refuses_a_negative_factor():
    """R3: a negative factor."""
    with pytest.raises(ValueError, match="factor"):
        scale_{n}([1], -1)
'''
HELD_OUT = """
```json
[{"requirement": "R1", "call": "scale_{n}([4, 0, 7], 3)", "returns": "[12, 0, 21]"},
 {"requirement": "R1", "call": "scale_{n}([5])", "returns": "[5]"},
 {"requirement": "R2", "call": "scale_{n}([-3, -2], 2)", "returns": "[]"},
 {"requirement": "R3", "call": "scale_{n}([], -2)", "raises": "ValueError"}]
```"""
PEER = """def scale_{n}(values, factor=1):
    if factor < 0:
        raise ValueError("a negative factor")
    scaled = []
    for value in values:
        if value >= 0:
            scaled.append(value * factor)
    return scaled
"""
INPUTS = """def inputs(rng):
    for size in range(40):
        yield [rng.randint(-9, 9) for _ in range(size % 7)], rng.randint(-2, 5)


def allowed(values, factor=1):
    return all(type(value) is int for value in values) and type(factor) is int
"""
CONTRACT: dict[str, Any] = {
    "summary": "Scales numbers.",
    "requirements": [
        {
            "id": "R1",
            "text": "Each value is multiplied by factor.",
            "quotes": ["Write scale_{n}(values, factor=1): each value times factor"],
        },
        {
            "id": "R2",
            "text": "Values below zero are left out.",
            "quotes": ["values below zero are left out"],
        },
        {
            "id": "R3",
            "text": "A negative factor raises ValueError.",
            "quotes": ["a negative factor raises ValueError"],
        },
    ],
    "assumptions": [],
    "packages": [],
}


def answer(system: str, prompt: str) -> str:
    found = re.search(r"scale_(\d+)", prompt)
    return _answer(system).replace("{n}", found[1] if found else "0")


def _answer(system: str) -> str:
    if system.startswith("You turn a specification"):
        stub = "def scale_{n}(values: list[int], factor: int = 1) -> list[int]:\n    ...\n"
        contract = {"module": "m{n}", "interface": stub, **CONTRACT}
        if "quotes" not in system:  # version 0.1.0 did not ask for them
            contract["requirements"] = [
                {key: item[key] for key in ("id", "text")} for item in CONTRACT["requirements"]
            ]
        return f"```json\n{json.dumps(contract)}\n```"
    if system.startswith("You write one Python module"):
        return f"```python\n{CODE}```"
    if system.startswith("You write pytest tests"):
        return f"```python\n{TESTS}```\n{HELD_OUT}"
    if system.startswith("You write a plain Python module"):
        return f"```python\n{PEER}```\n\n```python\n{INPUTS}```"
    return "LGTM"


def completion(text: str, stream: bool) -> bytes:
    """Return the head and the body of an HTTP response."""
    usage = {"prompt_tokens": 900, "completion_tokens": 200, "total_tokens": 1100}
    if stream:
        first = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
        last: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": "stop"}
        chunks: list[dict[str, Any]] = [
            {"choices": [first]},
            {"choices": [last]},
            {"choices": [], "usage": usage},
        ]
        head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "bench"}
        lines = [f"data: {json.dumps(head | chunk)}\n\n" for chunk in chunks]
        body, kind = "".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream"
    else:
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        said = {"id": "x", "object": "chat.completion", "created": 1, "model": "bench"}
        body = json.dumps(said | {"choices": [choice], "usage": usage}).encode()
        kind = "application/json"
    head_text = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head_text.encode() + body


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_s: float) -> None:
    """Serve a kept-alive connection."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            found = re.search(r"content-length: (\d+)", head)
            asked = json.loads(await reader.readexactly(int(found[1]))) if found else {}
            messages = asked.get("messages", [{"content": ""}])
            await asyncio.sleep(delay_s)
            prompt = "\n".join(str(item["content"]) for item in messages)
            text = answer(str(messages[0]["content"]), prompt)
            writer.write(completion(text, bool(asked.get("stream"))))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    delay_s = float(sys.argv[1])
    server = await asyncio.start_server(
        lambda reader, writer: serve(reader, writer, delay_s), "127.0.0.1", 0, backlog=1024
    )
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(130)
