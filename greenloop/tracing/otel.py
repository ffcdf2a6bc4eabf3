"""OpenTelemetry's tracer: the host program's, or one that sends spans by OTLP itself."""

import os

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from greenloop.errors import SettingsError
from greenloop.tracing.spans import RunSpans

_OTLP_PROTOCOL = "http/protobuf"


class OtelTracer:
    """Tracer named `greenloop` of the host program's provider, which stays open.

    Without such a provider, the tracer creates one that sends to the endpoint of OTEL_*.
    """

    def __init__(self, *, content: bool) -> None:
        self._content = content
        self._provider: TracerProvider | None = None
        existing = trace.get_tracer_provider()
        if isinstance(existing, trace.ProxyTracerProvider):  # nothing was set up
            self._provider = _create_provider(_create_exporter())
        self._tracer = (self._provider or existing).get_tracer("greenloop")

    def start_run(self) -> RunSpans:
        """Start the span of a run, and return the listener of its events."""
        return RunSpans(self._tracer, content=self._content)

    def close(self) -> None:
        """Send the remaining spans of an own provider. May block."""
        if self._provider is not None:
            self._provider.shutdown()


def _create_exporter() -> OTLPSpanExporter:
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get(
        "OTEL_EXPORTER_OTLP_PROTOCOL", ""
    )
    if protocol not in ("", _OTLP_PROTOCOL):
        raise SettingsError(
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
