"""`eval --check-tasks`: the data's own solutions against its hidden tests. No model is asked."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from greenloop.errors import InputError
from greenloop.evaluating.evaluation import at_once
from greenloop.evaluating.provisions import Provisions
from greenloop.evaluating.store import TaskStore
from greenloop.evaluating.task import Task
from greenloop.evaluating.trying import Tried, try_solutions
from greenloop.packages import Provider
from greenloop.reporting.harmless import line_of
from greenloop.sandbox import open_sandbox
from greenloop.settings import Settings


def try_command(tasks: Iterator[Task], settings: Settings, *, as_json: bool, quiet: bool) -> int:
    """The exit status: 1 where a solution does not pass. Raises GreenloopError."""
    with tempfile.TemporaryDirectory(prefix="greenloop-") as room:
        store = TaskStore(Path(room) / "tasks.jsonl", tasks)
        if not len(store):
            raise InputError("there is no task to check")
        tried = asyncio.run(_tried(store, settings, quiet))
    sys.stdout.write(_as_json(tried) if as_json else _as_text(tried))
    sys.stdout.flush()
    return 0 if all(item.truth in ("passed", None) for item in tried) else 1


async def _tried(store: TaskStore, settings: Settings, quiet: bool) -> tuple[Tried, ...]:
    with open_sandbox(settings) as box:
        provisions = Provisions(box, Provider(settings.allow_list))
        return await try_solutions(store, provisions, at_once(), lambda item: _tell(item, quiet))


def _tell(item: Tried, quiet: bool) -> None:
    if item.truth not in ("passed", None) and not quiet:
        print(line_of(f"{item.id}: {item.truth}: {item.why}", 400), file=sys.stderr, flush=True)


def _as_text(tried: Sequence[Tried]) -> str:
    without = sum(item.truth is None for item in tried)
    passed = sum(item.truth == "passed" for item in tried)
    none = f"; {without} tasks have no solution of their own" if without else ""
    had = len(tried) - without
    return f"{passed} of {had} solutions of the data pass their hidden tests{none}\n"


def _as_json(tried: Sequence[Tried]) -> str:
    return json.dumps([item.model_dump(mode="json") for item in tried], indent=1) + "\n"
