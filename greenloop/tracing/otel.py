"""OpenTelemetry tracer that uses the host program's provider, or sends spans by OTLP itself."""

import json
import os
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode

from greenloop.tracing.spans import SpanData, SpanType, TracingSettingError, span_attributes

_OTLP_PROTOCOL = "http/protobuf"
_INPUT, _OUTPUT = "gen_ai.prompt", "gen_ai.completion"  # attributes with the content, as JSON


class OtelTracer:
    """Tracer named `greenloop` of the host program's provider, which stays open.

    Without such a provider, the tracer creates one that sends to the endpoint of OTEL_*.
    """

    def __init__(self) -> None:
        self._provider: TracerProvider | None = None
        existing = trace.get_tracer_provider()
        if isinstance(existing, trace.ProxyTracerProvider):  # nothing was set up
            self._provider = _create_provider(_create_exporter())
        self._tracer = (self._provider or existing).get_tracer("greenloop")

    def start(self, kind: SpanType, name: str, parent: Any, data: SpanData) -> Any:
        """Start a span; `parent` is None for a run."""
        context = trace.set_span_in_context(parent) if parent is not None else None
        span_kind = SpanKind.CLIENT if kind == "model" else SpanKind.INTERNAL
        attributes = span_attributes(kind, name) | _attributes(data, _INPUT)
        return self._tracer.start_span(name, context=context, kind=span_kind, attributes=attributes)

    def end(self, span: Any, data: SpanData) -> None:
        """Set the final attributes and the error status of a span, and end it."""
        attributes = _attributes(data, _OUTPUT)
        if data.error:
            attributes["error.type"] = data.error
            span.set_status(Status(StatusCode.ERROR))
        span.set_attributes(attributes)
        span.end()

    def close(self) -> None:
        """Send the remaining spans of an own provider. May block."""
        if self._provider is not None:
            self._provider.shutdown()


def _attributes(data: SpanData, content: str) -> dict[str, Any]:
    as_json = {content: json.dumps(dict(data.content))} if data.content else {}
    return {**data.attributes, **as_json}


def _create_exporter() -> OTLPSpanExporter:
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", ""
    )
    if protocol not in ("", _OTLP_PROTOCOL):
        raise TracingSettingError(
            f"OpenTelemetry: spans are sent by {_OTLP_PROTOCOL}, not by {protocol}: set "
            f"OTEL_EXPORTER_OTLP_PROTOCOL={_OTLP_PROTOCOL} and an endpoint that takes it (usually "
            "port 4318)"
        )
    return OTLPSpanExporter()


def _create_provider(exporter: OTLPSpanExporter) -> TracerProvider:
    """Return a provider that is not registered globally, so that other libraries do not use it.

    It is not shut down by atexit, which has no time limit; `Tracing.close` has one.
    """
    resource = Resource.create()
    if str(resource.attributes.get(SERVICE_NAME)).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "greenloop"}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
