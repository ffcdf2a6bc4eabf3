"""Conversion of a run's events into spans: the run, each model call and each sandbox job."""

import json
import threading

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer

from greenloop import events as e
from greenloop.records import Report

Attributes = dict[str, str | int | float | bool]

_INPUT, _OUTPUT = "gen_ai.prompt", "gen_ai.completion"  # attributes with the content, as JSON
_MAX_CONTENT_CHARACTERS = 20_000  # of each piece of content
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


class RunSpans:
    """Event listener that turns the events of one run into spans. Thread-safe.

    The span of the run belongs to the current span of the host program, if there is one. Content
    (specifications, prompts, code and output) is left out unless `content` is true.
    """

    def __init__(self, tracer: Tracer, *, content: bool) -> None:
        self._tracer, self._content = tracer, content
        self._lock = threading.Lock()
        self._open_spans: dict[str, list[Span]] = {}
        operation = _name_operation("invoke_agent") | {"gen_ai.agent.name": "greenloop"}
        self._run_span = tracer.start_span("greenloop", attributes=operation)
        self._context = trace.set_span_in_context(self._run_span)

    def __call__(self, event: e.Event) -> None:
        match event:
            case e.CallStarted():
                prompt = "\n\n".join(f"{role}: {text}" for role, text in event.messages)
                attributes = _name_operation("chat") | self._content_of(_INPUT, prompt=prompt)
                self._start_span(event.tool, event.tool, SpanKind.CLIENT, attributes)
            case e.CallFinished():
                self._end_span(event.tool, self._describe_call(event))
            case e.CallFailed():
                self._end_span(event.tool, error=event.error or "CallFailed")
            case e.SandboxJobStarted():
                name = f"sandbox {event.kind}"
                attributes = _name_operation("execute_tool") | {"gen_ai.tool.name": name}
                attributes["greenloop.sandbox.kind"] = event.kind
                self._start_span(event.key, name, SpanKind.INTERNAL, attributes)
            case e.SandboxJobEnded():
                attributes = self._content_of(_OUTPUT, output=event.output)
                attributes["greenloop.ending"] = event.ending
                attributes["greenloop.seconds"] = event.seconds
                self._end_span(event.key, attributes)
            case e.RunFinished():
                self._run_span.set_attributes(self._describe_report(event.report))

    def close(self, error: str) -> None:
        """End the run's span and all spans that are still open; `error` is an exception's type."""
        with self._lock:
            unfinished = [span for spans in self._open_spans.values() for span in spans]
            self._open_spans = {}
        for span in unfinished:
            _end(span, error or "unfinished")
        _end(self._run_span, error)

    def _start_span(self, key: str, name: str, kind: SpanKind, attributes: Attributes) -> None:
        span = self._tracer.start_span(name, self._context, kind, attributes)
        with self._lock:
            self._open_spans.setdefault(key, []).append(span)

    def _end_span(self, key: str, attributes: Attributes | None = None, error: str = "") -> None:
        with self._lock:
            waiting = self._open_spans.get(key)
            span = waiting.pop(0) if waiting else None
        if span is not None:
            span.set_attributes(attributes or {})
            _end(span, error)

    def _content_of(self, name: str, **content: str) -> Attributes:
        """Return the attribute with the pieces of content that are not empty, if there is any."""
        kept = {key: text[:_MAX_CONTENT_CHARACTERS] for key, text in content.items() if text}
        return {name: json.dumps(kept)} if kept and self._content else {}

    def _describe_call(self, event: e.CallFinished) -> Attributes:
        attributes = _name_model(event.model) | self._content_of(_OUTPUT, answer=event.response)
        attributes |= {"greenloop.seconds": event.seconds, "greenloop.source": event.source}
        if event.source == "model":  # services would count the cost of a logged answer twice
            attributes["gen_ai.usage.input_tokens"] = event.input_tokens
            attributes["gen_ai.usage.output_tokens"] = event.output_tokens
        return attributes

    def _describe_report(self, report: Report) -> Attributes:
        active = [item for item in report.tests if item.is_active]
        mutation, usage = report.evidence.mutation, report.usage
        attributes: Attributes = {
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
        return attributes | self._content_of(
            _OUTPUT,
            specification=report.specification,
            code=report.final_code,
            tests=report.test_code,
            reasons="\n".join(report.reasons),
        )


def _name_operation(name: str) -> Attributes:
    return {"gen_ai.operation.name": name}


def _name_model(name: str) -> Attributes:
    """Return the attributes for `provider:model`; without a provider, only that of the model."""
    provider, colon, model = name.partition(":")
    if not colon:
        return {"gen_ai.request.model": name}
    return {
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": model,
    }


def _end(span: Span, error: str) -> None:
    """End a span, with the type of an exception, never its text, if there was one."""
    if error:
        span.set_attribute("error.type", error)
        span.set_status(Status(StatusCode.ERROR))
    span.end()
