"""From a run's events to spans: the run, each call of the model by its tool, each sandbox run."""

from __future__ import annotations

import threading
from typing import Any

from greenloop import events as e
from greenloop.records import Report
from greenloop.tracing.semconv import about_model
from greenloop.tracing.tracer import Facts, Kind, Tracer, Value

_MOST = 20_000  # characters of one piece of content


class RunSpans:
    """Listens to the events of one run, from any thread."""

    def __init__(self, tracer: Tracer, *, content: bool) -> None:
        self._tracer, self._content = tracer, content
        self._lock = threading.Lock()
        self._open: dict[str, list[Any]] = {}
        self._ending = Facts()
        self._run = tracer.start("run", "greenloop", None, Facts())

    def __call__(self, event: e.Event) -> None:
        match event:
            case e.CallStarted():
                said = "\n\n".join(f"{role}: {text}" for role, text in event.messages)
                self._start("model", event.tool, event.tool, self._facts(prompt=said))
            case e.CallFinished():
                self._end(event.tool, self._of_call(event))
            case e.CallFailed():
                self._end(event.tool, Facts(error=event.error or "CallFailed"))
            case e.SandboxBegun():
                facts = self._facts({"greenloop.sandbox.kind": event.kind})
                self._start("sandbox", f"sandbox {event.kind}", event.key, facts)
            case e.SandboxDone():
                about: dict[str, Value] = {"greenloop.ending": event.ending}
                about["greenloop.seconds"] = event.seconds
                self._end(event.key, self._facts(about, output=event.output))
            case e.RunFinished():
                self._ending = self._of_report(event.report)
            case _:
                pass

    def close(self, error: str | None) -> None:
        """The run has ended, and with it whatever had no end of its own."""
        with self._lock:
            unfinished, self._open = [s for item in self._open.values() for s in item], {}
        for span in unfinished:
            self._tracer.end(span, Facts(error=error or "unfinished"))
        ending = self._ending
        facts = Facts(ending.attributes, ending.content, ending.tokens, error)
        self._tracer.end(self._run, facts)

    def _start(self, kind: Kind, name: str, key: str, facts: Facts) -> None:
        span = self._tracer.start(kind, name, self._run, facts)
        with self._lock:
            self._open.setdefault(key, []).append(span)

    def _end(self, key: str, facts: Facts) -> None:
        with self._lock:
            waiting = self._open.get(key)
            span = waiting.pop(0) if waiting else None
        if span is not None:
            self._tracer.end(span, facts)

    def _facts(self, attributes: dict[str, Value] | None = None, **content: str) -> Facts:
        kept = {name: text[:_MOST] for name, text in content.items() if text}
        return Facts(attributes or {}, kept if self._content else {})

    def _of_call(self, event: e.CallFinished) -> Facts:
        facts = self._facts(
            {
                **about_model(event.model),
                "gen_ai.usage.input_tokens": event.input_tokens,
                "gen_ai.usage.output_tokens": event.output_tokens,
                "greenloop.seconds": event.seconds,
                "greenloop.source": event.source,
            },
            answer=event.answer,
        )
        paid = (event.input_tokens, event.output_tokens) if event.source == "model" else None
        return Facts(facts.attributes, facts.content, paid)

    def _of_report(self, report: Report) -> Facts:
        standing = [item for item in report.tests if item.outcome != "dropped"]
        mutation, usage = report.evidence.mutation, report.usage
        about: dict[str, Value] = {
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
        return self._facts(
            about,
            specification=report.specification,
            code=report.final_code,
            tests=report.test_code,
            reasons="\n".join(report.reasons),
        )
