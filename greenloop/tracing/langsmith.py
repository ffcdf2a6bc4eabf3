"""LangSmith: runs of its own SDK, at the place and in the project that LANGSMITH_* name."""

from __future__ import annotations

from typing import Any

from langsmith import Client
from langsmith.run_trees import RunTree

from greenloop.tracing.semconv import _PROVIDERS
from greenloop.tracing.tracer import SpanData, SpanType

_TYPES = {"run": "chain", "model": "llm", "sandbox": "tool"}
_TIMEOUT_MS = (2000, 5000)  # to connect, and to be answered


class _Client(Client):
    """Its threads do not hold up the end of the program; LANGSMITH_USE_DAEMON says the same, but
    would hold for the clients of the program around too."""

    @property
    def _use_daemon_threads(self) -> bool:
        return True

    @_use_daemon_threads.setter
    def _use_daemon_threads(self, value: bool) -> None:
        return


class LangSmithTracer:
    """A tree of runs. LangChain's own tracer is kept out (`models/untraced.py`): it sends prompts."""

    def __init__(self) -> None:
        self._client = _Client(timeout_ms=_TIMEOUT_MS)

    def start(self, kind: SpanType, name: str, parent: Any, facts: SpanData) -> Any:
        metadata = {"metadata": dict(facts.attributes)}
        about: dict[str, Any] = {
            "name": name,
            "run_type": _TYPES[kind],
            "inputs": dict(facts.content),
            "tags": ["greenloop", kind],
            "extra": metadata,
        }
        if parent is None:
            run = RunTree(ls_client=self._client, **about)
        else:
            run = parent.create_child(**about)
        run.post()
        return run

    def end(self, span: Any, facts: SpanData) -> None:
        span.add_metadata(dict(facts.attributes))
        if facts.tokens:
            into, out = facts.tokens
            usage = {"input_tokens": into, "output_tokens": out, "total_tokens": into + out}
            span.add_metadata({"usage_metadata": usage, **_model_in(facts)})
        span.end(outputs=dict(facts.content), error=facts.error)
        span.patch()

    def close(self) -> None:
        self._client.flush()


def _model_in(facts: SpanData) -> dict[str, Any]:
    """By the names, and LangChain's name of the provider, that prices are looked up by."""
    about = {"ls_model_name": facts.attributes.get("gen_ai.request.model")}
    provider = facts.attributes.get("gen_ai.provider.name")
    if provider is not None:
        about["ls_provider"] = {v: k for k, v in _PROVIDERS.items()}.get(str(provider), provider)
    return about
