"""Which tracers the environment asks for, by the names that they have given themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_TRUE = ("true", "1", "yes", "on")
_OTLP = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
CONTENT = "GREENLOOP_TRACE_CONTENT"


@dataclass(frozen=True)
class Wanted:
    """`content`: spans may hold specifications, prompts, code and output too."""

    otel: bool = False
    langsmith: bool = False
    langfuse: bool = False
    content: bool = False

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Wanted:
        return cls(
            otel=_wants_otel(environment),
            langsmith=_is_true(environment, "LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2")
            and _is_set(environment, "LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"),
            langfuse=_is_set(environment, "LANGFUSE_PUBLIC_KEY")
            and _is_set(environment, "LANGFUSE_SECRET_KEY")
            and environment.get("LANGFUSE_TRACING_ENABLED", "true").lower() in _TRUE,
            content=_is_true(environment, CONTENT),
        )

    @property
    def any(self) -> bool:
        return self.otel or self.langsmith or self.langfuse


def _wants_otel(environment: Mapping[str, str]) -> bool:
    exporters = environment.get("OTEL_TRACES_EXPORTER", "").lower().replace(" ", "").split(",")
    if _is_true(environment, "OTEL_SDK_DISABLED") or "none" in exporters:
        return False
    return "otlp" in exporters or (exporters == [""] and _is_set(environment, *_OTLP))


def _is_set(environment: Mapping[str, str], *names: str) -> bool:
    return any(environment.get(name, "").strip() for name in names)


def _is_true(environment: Mapping[str, str], *names: str) -> bool:
    return any(environment.get(name, "").strip().lower() in _TRUE for name in names)
