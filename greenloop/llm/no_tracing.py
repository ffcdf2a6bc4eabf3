"""Model calls kept out of tracers that would send prompts, which hold code, to somebody else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langchain_core.runnables.config import ensure_config

_TRACER_MODULES = ("langchain_core.tracers.langchain", "langfuse")


@contextmanager
def suppress_tracing() -> Iterator[Any]:
    """Within the block LangSmith's environment names put no tracer on a call; yields the callbacks
    of the program around, those that send aside. greenloop's own spans say what may be said."""
    from langsmith.run_helpers import tracing_context  # what LangChain imports at each call itself

    with tracing_context(enabled=False):
        yield remove_tracers(ensure_config().get("callbacks"))


def remove_tracers(callbacks: Any) -> Any:
    """LangChain callbacks (a list, a manager or None) without those that send what they see."""
    if callbacks is None or isinstance(callbacks, list):
        return [item for item in callbacks or [] if not _is_tracer(item)]
    kept = callbacks.copy()
    for item in [*kept.handlers, *kept.inheritable_handlers]:
        if _is_tracer(item):
            kept.remove_handler(item)
    return kept


def _is_tracer(handler: Any) -> bool:
    return any(kind.__module__.startswith(_TRACER_MODULES) for kind in type(handler).__mro__)
