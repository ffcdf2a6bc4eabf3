"""`change --apply` at a terminal: the patch is shown, and nothing is written without a yes."""

from pathlib import Path
from typing import Any

from tests.support.change_responses import WISH, change_answers, copy_shop
from tests.support.openai_server import OpenAIServer, Reply, tool_of
from tests.support.terminal_session import session


def respond(request: dict[str, Any]) -> Reply:
    return Reply(change_answers()[tool_of(request)][0])


def test_apply_asks_and_writes_after_a_yes_alone() -> None:
    prices = copy_shop(Path.cwd()) / "src/shop/prices.py"
    before = prices.read_text()
    call = ("change", WISH, "--in", "shop", "--apply", "--run-dir", "run")
    with OpenAIServer(respond) as server:
        with session(server, *call) as at_work:
            assert "+def total(nets: list[int], discount: int = 0)" in at_work.until("[y/N] ")
            assert prices.read_text() == before
            at_work.type("n")
            at_work.until("declined: nothing was changed")
            at_work.end()
        assert prices.read_text() == before
        with session(server, "resume", "run") as at_work:
            at_work.until("change these files? [y/N] ")
            at_work.type("y")
            assert at_work.end() == 0
    assert "discount: int = 0" in prices.read_text()
    assert (prices.parents[2] / "tests" / "test_discount.py").exists()
