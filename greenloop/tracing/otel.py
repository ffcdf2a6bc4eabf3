"""OpenTelemetry: through the provider of the program around, else by OTLP as OTEL_* say."""

from __future__ import annotations

from typing import Any

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from greenloop.tracing.tracer import Facts, Kind


class OtelTracer:
    """Spans of the tracer `greenloop`. A host's own provider is used, and left open."""

    def __init__(self) -> None:
        self._own: Any = None
        provider: Any = trace.get_tracer_provider()
        if isinstance(provider, trace.ProxyTracerProvider):  # nobody has set one up
            provider = self._own = _by_otlp()
        self._tracer = provider.get_tracer("greenloop")

    def start(self, kind: Kind, name: str, parent: Any, facts: Facts) -> Any:
        around = trace.set_span_in_context(parent) if parent is not None else None
        outward = SpanKind.CLIENT if kind == "model" else SpanKind.INTERNAL
        span = self._tracer.start_span(name, context=around, kind=outward)
        if kind == "model":
            span.set_attribute("gen_ai.operation.name", "chat")
        _add(span, facts)
        return span

    def end(self, span: Any, facts: Facts) -> None:
        _add(span, facts)
        if facts.error:
            span.set_attribute("error.type", facts.error)
            span.set_status(Status(StatusCode.ERROR))
        span.end()

    def close(self) -> None:
        if self._own is not None:
            self._own.shutdown()


def _add(span: Any, facts: Facts) -> None:
    span.set_attributes(dict(facts.attributes))
    span.set_attributes({f"greenloop.content.{k}": v for k, v in facts.content.items()})


def _by_otlp() -> Any:
    """A provider of our own, so that no other library's spans go out through it."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create()
    if str(resource.attributes.get(SERVICE_NAME)).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "greenloop"}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
