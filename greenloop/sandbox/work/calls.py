"""Calls of a module's functions, observed in a sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from greenloop.sandbox.api import JobRunner
from greenloop.sandbox.hash_seed import HASH_SEED
from greenloop.sandbox.work.observations import load


@dataclass(frozen=True)
class CallResults:
    """The observation of each call, None where there is none; `error` says why ('' if all ended).

    An observation has the key `value` or `error`, as `guest.observation.encoder` writes them.
    """

    events: tuple[dict[str, Any] | None, ...]
    error: str = ""


def evaluate_calls(
    sandbox: JobRunner,
    code: str,
    module: str,
    calls: Sequence[str],
    *,
    timeout_s: float | None = None,
    hash_seed: int = HASH_SEED,
) -> CallResults:
    """Evaluate expressions over the names of a module, or statements that end in one, in one process.

    `timeout_s` limits all calls together. Raises SandboxError where no process can be started.
    """
    rows = [(item,) for item in calls]
    text = f'programs = [(create_calls__("", ()).answer_steps, (), {rows})]\n'
    seen = sandbox.observe(code, module, text, timeout_s=timeout_s, hash_seed=hash_seed)
    found = {item.row: item.observations[0][1] for item in seen.rows if item.observations}
    events = (load(found.get(number, "")) or None for number in range(len(calls)))
    return CallResults(tuple(events), seen.error)
