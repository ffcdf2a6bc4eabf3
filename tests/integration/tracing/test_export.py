"""Spans that a local OTLP receiver gets; content only with GREENLOOP_TRACE_CONTENT."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import pytest
from langchain_core.callbacks import CallbackManager, UsageMetadataCallbackHandler
from langsmith import Client

from greenloop import events as e
from greenloop.agent import CodingAgent
from greenloop.errors import GreenloopError
from greenloop.llm.chat import remove_tracers
from greenloop.records import Report
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from tests.integration.integrations.conftest import collect_events
from tests.support.collector import Collector
from tests.support.model_responses import (
    GOOD_CODE,
    SPECIFICATION,
    contract_answer,
    fence,
    suite_answer,
)
from tests.support.scripted import ScriptedModel

trace = pytest.importorskip(
    "opentelemetry.sdk.trace", reason="OpenTelemetry is not installed: pip install '.[otel]'"
)

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
SECRET = "sk-openai-secret-8901"
GOOD: dict[str, Any] = {
    "parse_specification": [contract_answer()],
    "generate_code": [fence(GOOD_CODE)],
    "generate_tests": [suite_answer()],
    "review_code": ["LGTM"],
}
CONTENT = ("top_k", "ValueError", "largest", "sorted(")  # words of specification and code


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with open_sandbox(Settings(timeout_s=30)) as opened:
        yield opened


@pytest.fixture
def run(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that runs the agent with tracing configured; it returns report and events."""

    def start(environment: dict[str, str], answers: dict[str, Any] = GOOD) -> Any:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        settings = Settings(mutants=0, hardening_rounds=0, openai_api_key=SECRET, model_attempts=1)
        events: list[e.Event] = []
        model = ScriptedModel(answers=answers)
        agent = CodingAgent(settings, model=model, sandbox=box, emit=events.append)
        report: Report | None = None
        with suppress(GreenloopError):
            report = asyncio.run(agent.run(SPECIFICATION))
        return report, events

    return start


@pytest.mark.slow
@pytest.mark.parametrize("with_content", [False, True])
def test_content_is_sent_only_when_switched_on_and_keys_never(
    with_content: bool, run: Callable[..., Any]
) -> None:
    with Collector() as collector:
        content = {"GREENLOOP_TRACE_CONTENT": "1"} if with_content else {}
        report, _ = run({ENDPOINT: collector.url, **content})
        assert collector.has("greenloop.verdict")
        sent = collector.text
    assert report.verdict == "passed"
    for name in ("greenloop", *GOOD, "sandbox tests"):
        assert name in sent, name
    assert [word in sent for word in CONTENT] == [with_content] * len(CONTENT)
    assert SECRET not in sent


def test_run_calls_and_sandbox_jobs_have_spans(
    run: Callable[..., Any],
) -> None:
    with Collector() as collector:
        report, events = run({ENDPOINT: collector.url})
        assert collector.has("greenloop.verdict")
        spans = spans_of(collector)
    root = spans["greenloop"][0]
    attributes = {item.key: item.value for item in root.attributes}
    assert attributes["greenloop.verdict"].string_value == report.verdict
    assert attributes["greenloop.module"].string_value == "topk"
    assert attributes["greenloop.tests.passed"].int_value == len(report.tests)
    assert attributes["greenloop.output_tokens"].int_value == report.usage.output_tokens
    for tool in GOOD:
        assert len(spans[tool]) == 1
    operations = {
        item.value.string_value
        for span in (root, spans["generate_code"][0], spans["sandbox tests"][0])
        for item in span.attributes
        if item.key == "gen_ai.operation.name"
    }
    assert operations == {"invoke_agent", "chat", "execute_tool"}
    ran = [item for item in events if isinstance(item, e.SandboxJobEnded)]
    boxed = [span for name, items in spans.items() if name.startswith("sandbox ") for span in items]
    assert len(boxed) == len(ran) >= 3  # the tests, what they call, and its judgement
    inner = [span for items in spans.values() for span in items if span is not root]
    assert {span.parent_span_id for span in inner} == {root.span_id}


def spans_of(collector: Collector) -> dict[str, list[Any]]:
    """Return the received OTLP spans by name."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    found: dict[str, list[Any]] = {}
    for item in collector.sent:
        for resource in ExportTraceServiceRequest.FromString(item.body).resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    found.setdefault(span.name, []).append(span)
    return found


def test_aborted_run_ends_its_spans_with_the_error_type_only(
    run: Callable[..., Any],
) -> None:
    with Collector() as collector:
        run(
            {ENDPOINT: collector.url},
            {"parse_specification": [ValueError("secret detail")]},
        )
        assert collector.has("greenloop.verdict")
        spans = spans_of(collector)
        assert "secret detail" not in collector.text
    for name in ("greenloop", "parse_specification"):
        (span,) = spans[name]
        assert {item.key: item.value.string_value for item in span.attributes}["error.type"]
        assert span.status.code == 2


def test_failed_call_is_not_confused_with_the_next_call() -> None:
    with Collector() as collector, pytest.MonkeyPatch.context() as patched:
        patched.setenv(ENDPOINT, collector.url)
        collect_events(
            e.CallStarted("judge_test"),
            e.CallFailed("judge_test", "UnusableAnswerError"),
            e.CallStarted("judge_test"),
            e.CallFinished("judge_test", 1.0, 5, model="google_genai:gemini-3"),
        )
        assert collector.has("judge_test")
        first, second = spans_of(collector)["judge_test"]
    attributes = [
        {i.key: i.value.string_value for i in span.attributes} for span in (first, second)
    ]
    assert attributes[0]["error.type"] == "UnusableAnswerError"
    assert "error.type" not in attributes[1]
    assert attributes[1]["gen_ai.provider.name"] == "gcp.gemini"
    assert attributes[1]["gen_ai.request.model"] == "gemini-3"


@pytest.mark.slow  # retried for 2 s
def test_unreachable_endpoint_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with Collector() as gone:
        monkeypatch.setenv(ENDPOINT, gone.url)
    sandbox, notice = collect_events(e.SandboxJobStarted("1", "tests"))
    assert sandbox == e.SandboxJobStarted("1", "tests")
    assert isinstance(notice, e.Notice)
    assert notice.text.startswith("not all spans of this run were sent")


def test_unsupported_protocol_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENDPOINT, "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    (notice,) = collect_events()
    assert isinstance(notice, e.Notice)
    assert "not by grpc" in notice.text


@pytest.mark.slow  # waits until the time limit
def test_endpoint_that_does_not_answer_does_not_fail_the_run(run: Callable[..., Any]) -> None:
    with Collector(silent=True) as collector:
        report, events = run({ENDPOINT: collector.url})
        assert not collector.over.is_set()
    assert report.verdict == "passed"
    notices = [item.text for item in events if isinstance(item, e.Notice)]
    assert notices[-1].startswith("not all spans of this run were sent")


def test_spans_go_to_the_provider_of_the_host_program(monkeypatch: pytest.MonkeyPatch) -> None:
    from opentelemetry import trace as api
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    provider, memory = trace.TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    monkeypatch.setattr(api, "get_tracer_provider", lambda: provider)
    with provider.get_tracer("host").start_as_current_span("host"):
        collect_events(e.SandboxJobStarted("1", "tests"), e.SandboxJobEnded("1", "finished", 0.1))
    inner, run, host = memory.get_finished_spans()
    assert [inner.name, run.name, host.name] == ["sandbox tests", "greenloop", "host"]
    assert (inner.parent.span_id, run.parent.span_id) == (run.context.span_id, host.context.span_id)


def test_env_file_configures_tracing() -> None:
    with Collector() as collector:
        Path(".env").write_text(f"OTEL_EXPORTER_OTLP_ENDPOINT={collector.url}\n")
        collect_events(e.CallStarted("generate_code"), e.CallFinished("generate_code", 1.0, 5))
        assert collector.has("generate_code")


@pytest.mark.parametrize("source", ["model", "log"])
def test_call_has_its_content_and_the_tokens_that_were_paid(
    source: Literal["model", "log"], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Collector() as collector:
        for name, value in {ENDPOINT: collector.url, "GREENLOOP_TRACE_CONTENT": "1"}.items():
            monkeypatch.setenv(name, value)
        collect_events(
            e.CallStarted("generate_code", (("user", "question"),)),
            e.CallFinished("generate_code", 1.0, 5, source, "openai:gpt-6", 3, 2, "response"),
        )
        assert collector.has("generate_code")
        (span,) = spans_of(collector)["generate_code"]
    call = {item.key: item.value for item in span.attributes}
    assert call["gen_ai.prompt"].string_value == '{"prompt": "user: question"}'
    assert call["gen_ai.completion"].string_value == '{"answer": "response"}'
    used = {key.rpartition(".")[2]: v.int_value for key, v in call.items() if "usage" in key}
    assert used == ({"input_tokens": 3, "output_tokens": 2} if source == "model" else {})


def test_callbacks_of_the_host_program_are_kept_except_tracers() -> None:
    from langchain_core.tracers.langchain import LangChainTracer

    client = Client(api_url="http://127.0.0.1:9", api_key="x", auto_batch_tracing=False)
    counter, tracer = UsageMetadataCallbackHandler(), LangChainTracer(client=client)
    assert remove_tracers([counter, tracer]) == [counter]
    manager = CallbackManager([counter, tracer], inheritable_handlers=[counter, tracer])
    kept = remove_tracers(manager)
    assert (kept.handlers, kept.inheritable_handlers) == ([counter], [counter])
    assert manager.handlers == [counter, tracer]
