"""A model's server that answers each of many specifications by what it says."""

import re
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from tests.support.model_responses import (
    GOOD_CODE,
    WRONG_CODE,
    contract_answer,
    fence,
    get_shown_text,
    suite_answer,
)
from tests.support.openai_server import Reply, tool_of


class ManySpecifications:
    """Answers each specification by what it says: NONSENSE, UPSIDE-DOWN, or a good one."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()

    def __call__(self, request: dict[str, Any]) -> Reply:
        text = "\n".join(str(item["content"]) for item in request["messages"])
        found = re.search(r"number (\d+)", text)
        name = found[1] if found else "?"
        with self._lock:
            self.asked[name] += 1
        tool = tool_of(request)
        if "NONSENSE" in text:
            return Reply("I would rather not say.")
        answers = {
            "parse_specification": contract_answer(get_shown_text(text), module=_module(text)),
            "generate_code": fence(WRONG_CODE if "UPSIDE-DOWN" in text else GOOD_CODE),
            "generate_tests": suite_answer().replace("from topk", f"from {_module(text)}"),
            "review_code": "LGTM",
            "repair_code": fence(WRONG_CODE),
        }
        return Reply(answers[tool])


def _module(text: str) -> str:
    found = re.search(r"^(?:Module: |The module must be named )`(\w+)`", text, re.MULTILINE)
    return found[1] if found else "topk"


def specification(number: int, *words: str) -> str:
    return f"Write top_k(xs, k), number {number}: the k largest, largest first. {' '.join(words)}"


def write_specifications(count: int, **words: str) -> None:
    Path("specs").mkdir(exist_ok=True)
    for number in range(count):
        extra = words.get(f"s{number}", "")
        Path(f"specs/top-{number}.md").write_text(specification(number, extra))
