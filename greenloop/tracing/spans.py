"""From a run's events to spans: the run, each call of the model by its tool, each sandbox run."""

from __future__ import annotations

import threading
from typing import Any

from greenloop import events as e
from greenloop.records import Report
from greenloop.tracing.semconv import model_attributes
from greenloop.tracing.tracer import AttributeValue, SpanData, SpanType, Tracer

_MAX_CONTENT_CHARACTERS = 20_000  # characters of one piece of content


class RunSpans:
    """Listens to the events of one run, from any thread."""

    def __init__(self, tracer: Tracer, *, content: bool) -> None:
        self._tracer, self._content = tracer, content
        self._lock = threading.Lock()
        self._open_spans: dict[str, list[Any]] = {}
        self._final_data = SpanData()
        self._run_span = tracer.start("run", "greenloop", None, SpanData())

    def __call__(self, event: e.Event) -> None:
        match event:
            case e.CallStarted():
                said = "\n\n".join(f"{role}: {text}" for role, text in event.messages)
                self._start_span("model", event.tool, event.tool, self._build_data(prompt=said))
            case e.CallFinished():
                self._end_span(event.tool, self._data_from_call(event))
            case e.CallFailed():
                self._end_span(event.tool, SpanData(error=event.error or "CallFailed"))
            case e.SandboxJobStarted():
                facts = self._build_data({"greenloop.sandbox.kind": event.kind})
                self._start_span("sandbox", f"sandbox {event.kind}", event.key, facts)
            case e.SandboxJobEnded():
                about: dict[str, AttributeValue] = {"greenloop.ending": event.ending}
                about["greenloop.seconds"] = event.seconds
                self._end_span(event.key, self._build_data(about, output=event.output))
            case e.RunFinished():
                self._final_data = self._data_from_report(event.report)
            case _:
                pass

    def close(self, error: str | None) -> None:
        """The run has ended, and with it whatever had no end of its own."""
        with self._lock:
            unfinished, self._open_spans = [
                s for item in self._open_spans.values() for s in item
            ], {}
        for span in unfinished:
            self._tracer.end(span, SpanData(error=error or "unfinished"))
        ending = self._final_data
        facts = SpanData(ending.attributes, ending.content, ending.tokens, error)
        self._tracer.end(self._run_span, facts)

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
        facts = self._build_data(
            {
                **model_attributes(event.model),
                "gen_ai.usage.input_tokens": event.input_tokens,
                "gen_ai.usage.output_tokens": event.output_tokens,
                "greenloop.seconds": event.seconds,
                "greenloop.source": event.source,
            },
            answer=event.response,
        )
        paid = (event.input_tokens, event.output_tokens) if event.source == "model" else None
        return SpanData(facts.attributes, facts.content, paid)

    def _data_from_report(self, report: Report) -> SpanData:
        standing = [item for item in report.tests if item.outcome != "dropped"]
        mutation, usage = report.evidence.mutation, report.usage
        about: dict[str, AttributeValue] = {
            "greenloop.command": report.command,
            "greenloop.module": report.module,
            "greenloop.verdict": report.verdict,
            "greenloop.tests": len(standing),
            "greenloop.tests.passed": sum(item.outcome == "passed" for item in standing),
            "greenloop.attempts": len(report.attempts),
            "greenloop.repairs": report.iterations,
            "greenloop.calls": usage.calls,
            "greenloop.input_tokens": usage.input_tokens,
            "greenloop.output_tokens": usage.output_tokens,
            "greenloop.seconds": report.timings.total_s,
            "greenloop.model": report.environment.model,
            "greenloop.sandbox": report.environment.sandbox.backend,
        }
        if usage.cost_usd is not None:
            about["greenloop.cost_usd"] = usage.cost_usd
        if mutation and mutation.score is not None:
            about["greenloop.mutation_score"] = mutation.score
        return self._build_data(
            about,
            specification=report.specification,
            code=report.final_code,
            tests=report.test_code,
            reasons="\n".join(report.reasons),
        )
