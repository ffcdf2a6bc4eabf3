"""OpenTelemetry: through the provider of the program around, else by OTLP as OTEL_* say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from greenloop.tracing.semconv import span_attributes
from greenloop.tracing.tracer import SpanData, SpanType, TracingSettingError

_OTLP_PROTOCOL = "http/protobuf"


class OtelTracer:
    """Spans of the tracer `greenloop`. `own` is a provider that nobody else uses; without it, it is
    the host's, which is left open, or where there is none one that sends by OTLP."""

    def __init__(self, provider: Any = None) -> None:
        around: Any = trace.get_tracer_provider()
        if provider is None and isinstance(around, trace.ProxyTracerProvider):  # nobody set one up
            provider = _create_otlp_provider()
        self._provider = provider
        self._tracer = (around if provider is None else provider).get_tracer("greenloop")

    def start(self, kind: SpanType, name: str, parent: Any, data: SpanData) -> Any:
        context = trace.set_span_in_context(parent) if parent is not None else None
        outward = SpanKind.CLIENT if kind == "model" else SpanKind.INTERNAL
        about = span_attributes(kind, name)
        span = self._tracer.start_span(name, context=context, kind=outward, attributes=about)
        _set_attributes(span, data)
        return span

    def end(self, span: Any, data: SpanData) -> None:
        _set_attributes(span, data)
        if data.error:
            span.set_attribute("error.type", data.error)
            span.set_status(Status(StatusCode.ERROR))
        span.end()

    def close(self) -> None:
        if self._provider is not None:
            self._provider.shutdown()


def _set_attributes(span: Any, data: SpanData) -> None:
    span.set_attributes(dict(data.attributes))
    span.set_attributes({f"greenloop.content.{k}": v for k, v in data.content.items()})


def _create_otlp_provider() -> Any:
    asked = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", ""
    )
    if asked not in ("", _OTLP_PROTOCOL):
        raise TracingSettingError(
            f"OpenTelemetry: spans leave by {_OTLP_PROTOCOL} alone, not by {asked}: name an endpoint of "
            "that (port 4318 is usual), and it as OTEL_EXPORTER_OTLP_PROTOCOL"
        )
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return create_provider(OTLPSpanExporter())


def create_provider(exporter: Any, attributes: Mapping[str, str] | None = None) -> Any:
    """A provider of our own: no other library's spans go out through it, nor ours through another.

    The end of the program does not wait for it: who opened it closes it, for as long as it may take.
    """
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create(dict(attributes or {}))
    if str(resource.attributes.get(SERVICE_NAME)).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "greenloop"}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
