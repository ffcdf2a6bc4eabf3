"""Calls of a module's functions, observed in a sandbox."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from greenloop.sandbox.api import JobRunner
from greenloop.sandbox.hash_seed import HASH_SEED
from greenloop.sandbox.work.observations import Observations
from greenloop.testsuite.call_programs import build_call_programs


class CallResults(NamedTuple):
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
    """Evaluate call expressions over the names of a module, one after the other in one process.

    `timeout_s` limits all calls together. Raises SandboxError where no process can be started.
    """
    programs = build_call_programs(calls)
    seen = sandbox.observe(code, module, programs, timeout_s=timeout_s, hash_seed=hash_seed)
    return read_call_results(seen, len(calls))


def read_call_results(seen: Observations, count: int) -> CallResults:
    """Return the results of so many calls from what their programs observed."""
    payloads = {item.row: item.observations[0][1] for item in seen.rows if item.observations}
    return CallResults(tuple(parse_payload(payloads.get(n, "")) for n in range(count)), seen.error)


def parse_payload(payload: str) -> dict[str, Any] | None:
    """Return what was observed of one call; None where that is not valid."""
    try:
        event = json.loads(payload)
    except (ValueError, RecursionError):  # untrusted code may have written it
        return None
    return event if isinstance(event, dict) else None
