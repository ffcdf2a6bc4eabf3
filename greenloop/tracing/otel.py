"""OpenTelemetry: through the provider of the program around, else by OTLP as OTEL_* say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from greenloop.tracing.semconv import about_span
from greenloop.tracing.tracer import Facts, Kind, UnusableSettingError

_PROTOCOL = "http/protobuf"


class OtelTracer:
    """Spans of the tracer `greenloop`. `own` is a provider that nobody else uses; without it, it is
    the host's, which is left open, or where there is none one that sends by OTLP."""

    def __init__(self, own: Any = None) -> None:
        around: Any = trace.get_tracer_provider()
        if own is None and isinstance(around, trace.ProxyTracerProvider):  # nobody set one up
            own = _by_otlp()
        self._own = own
        self._tracer = (around if own is None else own).get_tracer("greenloop")

    def start(self, kind: Kind, name: str, parent: Any, facts: Facts) -> Any:
        context = trace.set_span_in_context(parent) if parent is not None else None
        outward = SpanKind.CLIENT if kind == "model" else SpanKind.INTERNAL
        about = about_span(kind, name)
        span = self._tracer.start_span(name, context=context, kind=outward, attributes=about)
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
    asked = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", ""
    )
    if asked not in ("", _PROTOCOL):
        raise UnusableSettingError(
            f"OpenTelemetry: spans leave by {_PROTOCOL} alone, not by {asked}: name an endpoint of "
            "that (port 4318 is usual), and it as OTEL_EXPORTER_OTLP_PROTOCOL"
        )
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return own_provider(OTLPSpanExporter())


def own_provider(exporter: Any, about: Mapping[str, str] | None = None) -> Any:
    """A provider of our own: no other library's spans go out through it, nor ours through another.

    The end of the program does not wait for it: who opened it closes it, for as long as it may take.
    """
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    resource = Resource.create(dict(about or {}))
    if str(resource.attributes.get(SERVICE_NAME)).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "greenloop"}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
