"""A model server whose answers are written by hand, to record examples from a live model.

    python -m tests.support.manual_model_server FOLDER [FIRST_NUMBER]

prints its address. A request becomes FOLDER/<lane>/NNN.request.md and is answered with
FOLDER/<lane>/NNN.answer.md as soon as that file exists. The lanes are for different players, so that
the writers of tests and peer never see the code: `tests` (generate_tests, judge_test), `peer`
(write_peer), `judge` (judge_difference, review_code) and `code` (the rest).
"""

import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.support.openai_server import OpenAIServer, Reply, tool_of

_PATIENCE_S = 6000
_LANES = {
    "generate_tests": "tests",
    "judge_test": "tests",
    "write_peer": "peer",
    "judge_difference": "judge",
    "review_code": "judge",
}


class Relay:
    """Write requests to files and wait for the files with their answers."""

    def __init__(self, folder: Path, start: int = 0) -> None:
        self._folder, self._lock, self._count = folder, threading.Lock(), start
        for lane in ("code", *_LANES.values()):
            (folder / lane).mkdir(parents=True, exist_ok=True)

    def __call__(self, request: dict[str, Any]) -> Reply:
        lane = _LANES.get(tool_of(request), "code")
        with self._lock:
            self._count += 1
            name = f"{self._count:03}"
        asked = self._folder / lane / f"{name}.request.md"
        answer = self._folder / lane / f"{name}.answer.md"
        partial = asked.with_suffix(".part")
        partial.write_text(_as_text(request), encoding="utf-8")
        partial.rename(asked)
        deadline = time.monotonic() + _PATIENCE_S
        while not answer.exists():
            if time.monotonic() > deadline:
                return Reply("nobody answered", status=504)
            time.sleep(0.2)
        return Reply(answer.read_text("utf-8"), usage=None)


def _as_text(request: dict[str, Any]) -> str:
    parts = [f"##### {item['role']} #####\n{item['content']}" for item in request["messages"]]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    with OpenAIServer(Relay(Path(sys.argv[1]), int(*sys.argv[2:3] or "0"))) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
