"""What all nodes share: the budgets, the rates, and what a lost run gives back. No Ray is needed."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from greenloop.distributed.shared_budget import (
    RemoteBudget,
    SharedBudget,
    limit_remotely,
)
from greenloop.distributed.worker_pool import parse_nodes
from greenloop.errors import BudgetExhaustedError, GreenloopError
from greenloop.llm.budget import TokenCount
from greenloop.llm.rate_limits import LLMCall
from greenloop.records import ToolUsage
from greenloop.versions import format_install_command
from tests.integration.cli.conftest import Run

PRICED = "openai:gpt-4o"
CALL = LLMCall("generate_code", 400)  # about 100 tokens
ANSWER = TokenCount(input_tokens=100, output_tokens=50)
SPENT = ToolUsage(calls=1, input_tokens=100, output_tokens=50, cost_usd=0.01)


class Remote:
    """A budget as another process holds it: its methods' `remote` begins the call."""

    def __init__(self, budget: SharedBudget) -> None:
        self._budget = budget

    def __getattr__(self, name: str) -> Any:
        work: Callable[..., Any] = getattr(self._budget, name)
        return type("Method", (), {"remote": staticmethod(lambda *a: _begin(work(*a)))})


def _begin(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.ensure_future(work)


async def budget_with(*runs: str, **limits: Any) -> SharedBudget:
    budget = SharedBudget(**limits)
    for run in runs:
        await budget.open_account(run)
    return budget


def test_two_runs_share_one_budget() -> None:
    async def body() -> None:
        budget = await budget_with("a", "b", max_tokens=310)
        assert isinstance(await budget.reserve_call("a", CALL), int)
        assert isinstance(await budget.reserve_call("b", CALL), int)
        await budget.record_call("a", "generate_code", SPENT, 1.0)
        refused = await budget.reserve_call("b", CALL)  # 150 spent, 200 out
        assert isinstance(refused, BudgetExhaustedError)
        assert "--max-tokens" in str(refused)

    asyncio.run(body())


def test_a_lost_run_gives_back_what_it_spent_and_held() -> None:
    async def body() -> None:
        budget = await budget_with("a, try 1", "b", max_tokens=400, max_cost=1.0)
        for run in ("a, try 1", "b"):
            await budget.reserve_call(run, LLMCall(CALL.tool, CALL.characters, PRICED))
            await budget.record_call(run, "generate_code", SPENT, 1.0)
        cost = await budget.cost()
        assert cost is not None
        await budget.close_account("a, try 1", is_lost=True)
        assert budget._total.tokens == 150
        assert await budget.cost() == pytest.approx(cost / 2)
        late = budget.record_call("a, try 1", "generate_code", SPENT, 1.0)
        await late  # from behind a broken line
        assert budget._total.tokens == 150
        assert isinstance(await budget.reserve_call("a, try 1", CALL), GreenloopError)
        await budget.open_account("a, try 2")
        assert isinstance(await budget.reserve_call("a, try 2", CALL), int)

    asyncio.run(body())


def test_an_ended_run_stays_entered() -> None:
    async def body() -> None:
        budget = await budget_with("a")
        await budget.record_call("a", "generate_code", SPENT, 1.0)
        await budget.close_account("a")
        assert budget._total.tokens == 150

    asyncio.run(body())


def test_the_rate_holds_for_all_runs_together() -> None:
    async def body() -> None:
        budget = await budget_with("a", "b", requests_per_minute=2)
        await budget.reserve_call("a", CALL)
        await budget.reserve_call("b", CALL)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(budget.reserve_call("a", CALL), 0.2)

    asyncio.run(body())


def test_between_leaving_and_entering_no_other_call_slips_through() -> None:
    """150 tokens are spent by a call that had reserved 100; the budget has room for one call."""

    async def body() -> None:
        budget = await budget_with("a", "b", max_tokens=199)
        remote = Remote(budget)
        ledger = RemoteBudget(shared_budget=remote, run="a")
        async with limit_remotely(remote, "a", CALL):
            assert isinstance(await budget.reserve_call("b", CALL), BudgetExhaustedError)
        between = remote.reserve_call.remote("b", CALL)
        ledger.add("generate_code", PRICED, ANSWER, 1.0)
        assert isinstance(await between, BudgetExhaustedError)
        assert (budget._total.tokens, ledger.tokens) == (150, 150)
        await budget.close_account("a")
        assert budget._total.tokens == 150

    asyncio.run(body())


def test_only_living_nodes_with_a_cpu_are_worked_on() -> None:
    def describe_actor(id: str, alive: bool, **resources: float) -> dict[str, Any]:
        address = {"NodeManagerAddress": "127.0.0.1"}
        return {"NodeID": id, "Alive": alive, "Resources": resources, **address}

    nodes = parse_nodes(
        [
            describe_actor("dead", False, CPU=8.0),
            describe_actor("head", True, memory=1.0),
            describe_actor("half", True, CPU=0.5),
            describe_actor("good", True, CPU=4.0),
        ]
    )
    assert [(item.id, item.cpus) for item in nodes] == [("good", 4)]


def test_without_ray_one_line_says_what_to_install(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    Path("a.md").write_text("Write a function.")
    status, out, err = run("batch", "a.md", "--engine", "ray")
    assert (status, out) == (2, "")
    assert err.strip() == (
        "greenloop: --engine ray needs packages that are missing: "
        f"{format_install_command('ray')}"
    )
    assert not Path(".greenloop").exists()


def test_an_address_without_ray_is_a_mistake(run: Run) -> None:
    Path("a.md").write_text("Write a function.")
    status, _, err = run("batch", "a.md", "--address", "127.0.0.1:6379")
    assert (status, "--engine ray" in err) == (2, True)


@pytest.mark.slow
def test_the_local_engine_imports_nothing_of_this() -> None:
    code = "import sys, greenloop.cli.commands.batch; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ended.stdout.split())
    assert not loaded & {"ray", "greenloop.distributed"}
