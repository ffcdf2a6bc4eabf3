"""Conversion of a run's events into spans: the run, each model call and each sandbox job."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from greenloop import events as e
from greenloop.records import Report

SpanType = Literal["run", "model", "sandbox"]
AttributeValue = str | int | float | bool

# The operation of each span, and the attribute for its name.
_OPERATIONS: dict[SpanType, tuple[str, str]] = {
    "run": ("invoke_agent", "gen_ai.agent.name"),
    "model": ("chat", ""),
    "sandbox": ("execute_tool", "gen_ai.tool.name"),
}
# LangChain's provider names that differ from those of the OpenTelemetry conventions.
_PROVIDERS = {
    "azure_openai": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "bedrock_converse": "aws.bedrock",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "mistralai": "mistral_ai",
    "xai": "x_ai",
}


class TracingSettingError(Exception):
    """A tracing setting that cannot be used; its text says why and holds no secret."""


def span_attributes(kind: SpanType, name: str) -> dict[str, AttributeValue]:
    """Return the attributes that are known when a span starts."""
    operation, attribute = _OPERATIONS[kind]
    return {"gen_ai.operation.name": operation, **({attribute: name} if attribute else {})}


def model_attributes(name: str) -> dict[str, AttributeValue]:
    """Return the attributes for `provider:model`; without a provider, only that of the model."""
    provider, colon, model = name.partition(":")
    if not colon:
        return {"gen_ai.request.model": name}
    return {
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": model,
    }


_MAX_CONTENT_CHARACTERS = 20_000  # of each piece of content


@dataclass(frozen=True)
class SpanData:
    """Data recorded at the start or the end of a span."""

    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    content: Mapping[str, str] = field(default_factory=dict)  # empty unless content is traced
    error: str | None = None  # the exception's type, never its text


class Tracer(Protocol):
    """A destination of spans. `start` and `end` never block; `close` may."""

    def start(self, kind: SpanType, name: str, parent: Any, data: SpanData) -> Any: ...

    def end(self, span: Any, data: SpanData) -> None: ...

    def close(self) -> None: ...


class RunSpans:
    """Event listener that turns the events of one run into spans. Thread-safe."""

    def __init__(self, tracer: Tracer, *, content: bool) -> None:
        self._tracer, self._content = tracer, content
        self._lock = threading.Lock()
        self._open_spans: dict[str, list[Any]] = {}
        self._final_data = SpanData()
        self._run_span = tracer.start("run", "greenloop", None, SpanData())

    def __call__(self, event: e.Event) -> None:
        match event:
            case e.CallStarted():
                prompt = "\n\n".join(f"{role}: {text}" for role, text in event.messages)
                self._start_span("model", event.tool, event.tool, self._build_data(prompt=prompt))
            case e.CallFinished():
                self._end_span(event.tool, self._data_from_call(event))
            case e.CallFailed():
                self._end_span(event.tool, SpanData(error=event.error or "CallFailed"))
            case e.SandboxJobStarted():
                data = self._build_data({"greenloop.sandbox.kind": event.kind})
                self._start_span("sandbox", f"sandbox {event.kind}", event.key, data)
            case e.SandboxJobEnded():
                attributes: dict[str, AttributeValue] = {"greenloop.ending": event.ending}
                attributes["greenloop.seconds"] = event.seconds
                self._end_span(event.key, self._build_data(attributes, output=event.output))
            case e.RunFinished():
                self._final_data = self._data_from_report(event.report)

    def close(self, error: str | None) -> None:
        """End the run's span and all spans that are still open."""
        with self._lock:
            unfinished = [span for spans in self._open_spans.values() for span in spans]
            self._open_spans = {}
        for span in unfinished:
            self._tracer.end(span, SpanData(error=error or "unfinished"))
        self._tracer.end(self._run_span, replace(self._final_data, error=error))

    def _start_span(self, kind: SpanType, name: str, key: str, data: SpanData) -> None:
        span = self._tracer.start(kind, name, self._run_span, data)
        with self._lock:
            self._open_spans.setdefault(key, []).append(span)

    def _end_span(self, key: str, data: SpanData) -> None:
        with self._lock:
            waiting = self._open_spans.get(key)
            span = waiting.pop(0) if waiting else None
        if span is not None:
            self._tracer.end(span, data)

    def _build_data(
        self, attributes: dict[str, AttributeValue] | None = None, **content: str
    ) -> SpanData:
        kept = {name: text[:_MAX_CONTENT_CHARACTERS] for name, text in content.items() if text}
        return SpanData(attributes or {}, kept if self._content else {})

    def _data_from_call(self, event: e.CallFinished) -> SpanData:
        attributes = model_attributes(event.model)
        attributes |= {"greenloop.seconds": event.seconds, "greenloop.source": event.source}
        if event.source == "model":  # services would count the cost of a logged answer twice
            attributes["gen_ai.usage.input_tokens"] = event.input_tokens
            attributes["gen_ai.usage.output_tokens"] = event.output_tokens
        return self._build_data(attributes, answer=event.response)

    def _data_from_report(self, report: Report) -> SpanData:
        active = [item for item in report.tests if item.outcome != "dropped"]
        mutation, usage = report.evidence.mutation, report.usage
        attributes: dict[str, AttributeValue] = {
            "greenloop.command": report.command,
            "greenloop.module": report.module,
            "greenloop.verdict": report.verdict,
            "greenloop.tests": len(active),
            "greenloop.tests.passed": sum(item.outcome == "passed" for item in active),
            "greenloop.attempts": len(report.attempts),
            "greenloop.repairs": report.repairs,
            "greenloop.calls": usage.calls,
            "greenloop.input_tokens": usage.input_tokens,
            "greenloop.output_tokens": usage.output_tokens,
            "greenloop.seconds": report.timings.total_s,
            "greenloop.model": report.environment.model,
            "greenloop.sandbox": report.environment.sandbox.backend,
        }
        if usage.cost_usd is not None:
            attributes["greenloop.cost_usd"] = usage.cost_usd
        if mutation and mutation.score is not None:
            attributes["greenloop.mutation_score"] = mutation.score
        return self._build_data(
            attributes,
            specification=report.specification,
            code=report.final_code,
            tests=report.test_code,
            reasons="\n".join(report.reasons),
        )
