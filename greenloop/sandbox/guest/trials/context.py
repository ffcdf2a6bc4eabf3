"""What all trials of a job share, in the process that has collected the tests."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..limits.proc_stats import own_cpu_seconds
from .collected_session import CollectedSession
from .fork_pool import ForkPool
from .hot_swap import LoadedFunctions, OriginalModule
from .line_tracing import record_calls, trace_lines
from .loop_counter import LoopCounter
from .time_limits import count_trials_per_core
from .workspaces import Workspaces, become_subreaper

SendEvent = Callable[[dict[str, Any]], None]
ReportStep = Callable[[int], None]


@dataclass
class TrialContext:
    """Tests, module, and where and how trials are run. `collect` sets `collect_s`.

    Code of the module and of its tests runs in this process, so its events are not trusted.
    """

    session: CollectedSession
    original: OriginalModule
    workspaces: Workspaces
    fork_pool: ForkPool
    send_event: SendEvent
    collect_s: float = 0.0
    loop_counter: LoopCounter = field(default_factory=LoopCounter)

    def report_trouble(self, what: str) -> None:
        """Report why the trials end here."""
        self.send_event({"event": "trouble", "what": what})

    def collect(self) -> LoadedFunctions | None:
        """Collect the tests and return the module's functions; None if they cannot be collected."""
        become_subreaper()
        self.loop_counter.install()
        before, called = own_cpu_seconds(), set[tuple[str, int]]()
        with record_calls(self.original.path, called):
            is_collected = self.session.collect()
        if not is_collected:
            return None
        functions = LoadedFunctions(self.original.path, called)
        gc.collect()
        gc.freeze()
        self.collect_s = own_cpu_seconds() - before
        return functions

    def set_width(self, tests: Sequence[dict[str, Any]], *, is_alone: bool) -> None:
        """Set how many trials run side by side: more where the tests, as measured, mostly wait.

        If `is_alone` it is one, as they use what is outside of the workspaces.
        """
        width = 1 if is_alone else self.fork_pool.max_forks * count_trials_per_core(tests)
        self.fork_pool.max_forks = width
        self.workspaces.share_memory(width)

    def measure(self, function: Callable[[], None]) -> dict[str, Any]:
        """Run a function and return the module's lines that it reaches, and its cost."""
        cpu, clock = own_cpu_seconds(), time.monotonic()
        lines = trace_lines(self.original.path, function)
        cost = {"cpu_s": own_cpu_seconds() - cpu, "wall_s": time.monotonic() - clock}
        return {"lines": sorted(lines), **cost}
