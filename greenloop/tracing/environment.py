"""Tracing settings from environment variables, and presets for LangSmith and Langfuse."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from greenloop.tracing.spans import SpanType

_TRUE_VALUES = ("true", "1", "yes", "on")
_OTLP_ENDPOINT_VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_LANGSMITH_URL = "https://api.smith.langchain.com"
_LANGFUSE_URL = "https://cloud.langfuse.com"


@dataclass(frozen=True)
class Preset:
    """An OTLP endpoint and the attributes that this service reads besides the conventions."""

    name: str
    endpoint: str
    headers: Mapping[str, str] = field(repr=False)  # holds the key
    type_attribute: str
    span_types: Mapping[SpanType, str]  # the values of `type_attribute`
    input_attribute: str  # this, and the output, are JSON objects of content
    output_attribute: str
    usage_attribute: str = ""  # tokens as JSON; '': it reads `gen_ai.usage.*`
    aliases: Mapping[str, str] = field(default_factory=dict)  # second names of attributes
    resource: Mapping[str, str] = field(default_factory=dict)


def list_enabled_presets(environment: Mapping[str, str]) -> list[Preset | None]:
    """Return what is switched on: None for OpenTelemetry by OTEL_*, presets for the services."""
    found: list[Preset | None] = [None] if _is_otel_enabled(environment) else []
    is_on = _is_true(environment, "LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2")
    if is_on and _langsmith_value(environment, "API_KEY"):
        found.append(langsmith_preset(environment))
    is_on = environment.get("LANGFUSE_TRACING_ENABLED", "true").lower() in _TRUE_VALUES
    keys = ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY")
    if is_on and all(_first_value(environment, key) for key in keys):
        found.append(langfuse_preset(environment))
    return found


def is_content_traced(environment: Mapping[str, str]) -> bool:
    """Return whether spans may hold specifications, prompts, code and output."""
    return _is_true(environment, "GREENLOOP_TRACE_CONTENT")


def langsmith_preset(environment: Mapping[str, str]) -> Preset:
    """Return the preset for the server, workspace and project that LANGSMITH_* name."""
    base = _langsmith_value(environment, "ENDPOINT") or _LANGSMITH_URL
    headers = {
        "x-api-key": _langsmith_value(environment, "API_KEY"),
        "x-tenant-id": _langsmith_value(environment, "WORKSPACE_ID"),
        "Langsmith-Project": _langsmith_value(environment, "PROJECT"),
    }
    return Preset(
        name="LangSmith",
        endpoint=f"{base.rstrip('/')}/otel/v1/traces",
        headers={name: value for name, value in headers.items() if value},
        type_attribute="langsmith.span.kind",
        span_types=MappingProxyType({"run": "chain", "model": "llm", "sandbox": "tool"}),
        input_attribute="gen_ai.prompt",
        output_attribute="gen_ai.completion",
        aliases={"gen_ai.provider.name": "gen_ai.system"},  # prices are looked up by it
    )


def langfuse_preset(environment: Mapping[str, str]) -> Preset:
    """Return the preset for the server and project that LANGFUSE_* name."""
    base = _first_value(environment, "LANGFUSE_BASE_URL", "LANGFUSE_HOST") or _LANGFUSE_URL
    keys = f"{environment['LANGFUSE_PUBLIC_KEY']}:{environment['LANGFUSE_SECRET_KEY']}"
    stage = environment.get("LANGFUSE_TRACING_ENVIRONMENT", "")
    return Preset(
        name="Langfuse",
        endpoint=f"{base.rstrip('/')}/api/public/otel/v1/traces",
        headers={
            "Authorization": f"Basic {base64.b64encode(keys.encode()).decode()}",
            "x-langfuse-ingestion-version": "4",
        },
        type_attribute="langfuse.observation.type",
        span_types=MappingProxyType({"run": "agent", "model": "generation", "sandbox": "tool"}),
        input_attribute="langfuse.observation.input",
        output_attribute="langfuse.observation.output",
        usage_attribute="langfuse.observation.usage_details",
        resource={"langfuse.environment": stage} if stage else {},
    )


def _is_otel_enabled(environment: Mapping[str, str]) -> bool:
    exporters = environment.get("OTEL_TRACES_EXPORTER", "").lower().replace(" ", "").split(",")
    if _is_true(environment, "OTEL_SDK_DISABLED") or "none" in exporters:
        return False
    return "otlp" in exporters or (
        exporters == [""] and bool(_first_value(environment, *_OTLP_ENDPOINT_VARIABLES))
    )


def _langsmith_value(environment: Mapping[str, str], name: str) -> str:
    """Return the value under LANGSMITH_, else under the older prefix LANGCHAIN_, else ''."""
    return _first_value(environment, f"LANGSMITH_{name}", f"LANGCHAIN_{name}")


def _first_value(environment: Mapping[str, str], *names: str) -> str:
    return next(filter(None, (environment.get(name, "").strip() for name in names)), "")


def _is_true(environment: Mapping[str, str], *names: str) -> bool:
    return any(environment.get(name, "").strip().lower() in _TRUE_VALUES for name in names)
