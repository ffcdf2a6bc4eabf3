"""Langfuse: over its own OpenTelemetry endpoint, at the place that LANGFUSE_* name.

Its package does the same and no more of what is needed here, but keeps one client a process, and
holds up the end of the program where the place cannot be reached.
"""

from __future__ import annotations

import base64
import json
import os
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

from greenloop.tracing.otel import OtelTracer, create_provider
from greenloop.tracing.tracer import SpanData, SpanType

_CLOUD = "https://cloud.langfuse.com"
_TYPES = {"run": "agent", "model": "generation", "sandbox": "tool"}
_SPAN = "langfuse.observation"


class LangfuseTracer(OtelTracer):
    """Spans with what Langfuse reads besides: kinds, models, tokens, what went in and came out."""

    def __init__(self) -> None:
        base = os.environ.get("LANGFUSE_BASE_URL") or os.environ.get("LANGFUSE_HOST") or _CLOUD
        keys = f"{os.environ['LANGFUSE_PUBLIC_KEY']}:{os.environ['LANGFUSE_SECRET_KEY']}"
        exporter = OTLPSpanExporter(
            endpoint=f"{base.rstrip('/')}/api/public/otel/v1/traces",
            headers={
                "Authorization": f"Basic {base64.b64encode(keys.encode()).decode()}",
                "x-langfuse-ingestion-version": "4",
            },
        )
        stage = os.environ.get("LANGFUSE_TRACING_ENVIRONMENT")
        super().__init__(
            create_provider(exporter, {"langfuse.environment": stage} if stage else {})
        )

    def start(self, kind: SpanType, name: str, parent: Any, data: SpanData) -> Any:
        span = super().start(kind, name, parent, data)
        span.set_attribute(f"{_SPAN}.type", _TYPES[kind])
        _add(span, "input", data)
        return span

    def end(self, span: Any, data: SpanData) -> None:
        _add(span, "output", data)
        if data.tokens:
            used = {"input": data.tokens[0], "output": data.tokens[1]}
            span.set_attribute(f"{_SPAN}.usage_details", json.dumps(used))
            model = data.attributes.get("gen_ai.request.model", "")
            span.set_attribute(f"{_SPAN}.model.name", model)
        if data.error:
            span.set_attribute(f"{_SPAN}.level", "ERROR")
        super().end(span, data)


def _add(span: Any, which: str, facts: SpanData) -> None:
    if facts.content:
        span.set_attribute(f"{_SPAN}.{which}", json.dumps(dict(facts.content)))
