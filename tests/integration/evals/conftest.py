"""Command line in this process, and a model whose answers depend on the task's text."""

import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from tests.integration.cli.conftest import run as run
from tests.support.model_responses import (
    GOOD_CODE,
    GOOD_TESTS,
    WRONG_CODE,
    WRONG_TEST,
    contract_answer,
    fence,
    get_shown_text,
    peer_answer,
    suite_answer,
)
from tests.support.openai_server import OpenAIServer, Reply, tool_of

collect_ignore = ["data"]  # its test files are hidden tests of exercises

DATA = Path(__file__).parent / "data"
HIDDEN = "from topk import top_k\n\n\ndef test_hidden():\n    assert top_k([7, 7, 31], 2) == {}\n"
# By outcome: words in the task's text, and the result that its hidden tests expect.
WORDS = {
    "right": ("", "[31, 7]"),
    "too-good": ("", "[31, 7, 7]"),  # verified, and wrong all the same
    "too-bad": ("A WRONG TEST.", "[31, 7]"),  # failed by a test that contradicts the text
    "wrong": ("UPSIDE-DOWN.", "[31, 7]"),
    "broken": ("NONSENSE.", "[31, 7]"),
}


class Examinee:
    """Model that answers by the words of a specification; `asked` counts the calls of each task,
    `told` has all texts that it received."""

    def __init__(self, **other_words: str) -> None:
        self.asked: Counter[str] = Counter()
        self.told: list[str] = []
        self._other_words, self._lock = other_words, threading.Lock()

    def __call__(self, request: dict[str, Any]) -> Reply:
        text = "\n".join(str(item["content"]) for item in request["messages"])
        found = re.search(r"task (\S+):", text)
        name = found[1] if found else "?"
        with self._lock:
            self.asked[name] += 1
            self.told.append(text)
        words = self._other_words.get(name.replace("-", "_"), text)
        if "NONSENSE" in words:
            return Reply("I would rather not say.")
        suite = GOOD_TESTS + (WRONG_TEST if "A WRONG TEST" in words else "")
        answers = {
            "parse_specification": contract_answer(get_shown_text(text)),
            "generate_code": fence(WRONG_CODE if "UPSIDE-DOWN" in words else GOOD_CODE),
            "generate_tests": suite_answer(suite),
            "review_code": "LGTM",
            "write_peer": peer_answer(),
        }
        return Reply(answers[tool_of(request)])


def write_tasks(*names: str, path: str = "tasks.jsonl") -> str:
    """Write a file of these tasks and return its path."""
    lines = []
    for name in names:
        words, expected = WORDS[name]
        spec = f"task {name}: Write top_k(xs, k), the k largest numbers, largest first. {words}"
        lines.append({"id": name, "spec": spec, "tests": HIDDEN.format(expected)})
    Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def examinee() -> Iterator[tuple[Examinee, OpenAIServer]]:
    respond = Examinee()
    with OpenAIServer(respond) as server:
        yield respond, server


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with open_sandbox(Settings()) as sandbox:
        yield sandbox
