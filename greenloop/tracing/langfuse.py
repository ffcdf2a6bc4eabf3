"""Langfuse: observations of its own SDK, at the place that LANGFUSE_* name."""

from __future__ import annotations

from typing import Any

from langfuse import Langfuse
from opentelemetry.sdk.trace import TracerProvider

from greenloop.tracing.tracer import Facts, Kind

_TYPES: dict[str, Any] = {"run": "agent", "model": "generation", "sandbox": "tool"}


class LangfuseTracer:
    """A tree of observations, through a provider of our own: no other library's spans go with it."""

    def __init__(self) -> None:
        self._langfuse = Langfuse(tracer_provider=TracerProvider(shutdown_on_exit=False))

    def start(self, kind: Kind, name: str, parent: Any, facts: Facts) -> Any:
        maker: Any = self._langfuse if parent is None else parent
        about: dict[str, Any] = {"metadata": dict(facts.attributes)}
        if facts.content:
            about["input"] = dict(facts.content)
        return maker.start_observation(name=name, as_type=_TYPES[kind], **about)

    def end(self, span: Any, facts: Facts) -> None:
        about: dict[str, Any] = {"metadata": dict(facts.attributes)}
        if facts.content:
            about["output"] = dict(facts.content)
        if facts.error:
            about |= {"level": "ERROR", "status_message": facts.error}
        if facts.tokens:
            about["usage_details"] = {"input": facts.tokens[0], "output": facts.tokens[1]}
            about["model"] = str(facts.attributes.get("gen_ai.request.model", ""))
        span.update(**about)
        span.end()

    def close(self) -> None:
        self._langfuse.flush()
