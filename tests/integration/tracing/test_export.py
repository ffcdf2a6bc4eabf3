"""What tracers are sent, taken by a local server: spans always, what is in a run only when asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManager, UsageMetadataCallbackHandler
from langsmith import Client
from langsmith import utils as langsmith_utils

from greenloop import events as e
from greenloop.agent import CodingAgent
from greenloop.errors import GreenloopError
from greenloop.llm.chat import remove_tracers
from greenloop.records import Report
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from tests.integration.integrations.conftest import told_of
from tests.support.collector import Collector
from tests.support.model_responses import (
    GOOD_CODE,
    SPECIFICATION,
    contract_answer,
    fenced,
    suite_answer,
)
from tests.support.scripted import ScriptedModel

trace = pytest.importorskip(
    "opentelemetry.sdk.trace", reason="OpenTelemetry is not installed: pip install '.[otel]'"
)

SECRETS = ("lsv2-secret-0123", "sk-lf-secret-4567", "sk-openai-secret-8901")
WAYS: dict[str, Callable[[str], dict[str, str]]] = {
    "otel": lambda url: {"OTEL_EXPORTER_OTLP_ENDPOINT": url},
    "langsmith": lambda url: {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_API_KEY": SECRETS[0],
        "LANGSMITH_ENDPOINT": url,
    },
    "langfuse": lambda url: {
        "LANGFUSE_PUBLIC_KEY": "pk-lf-1",
        "LANGFUSE_SECRET_KEY": SECRETS[1],
        "LANGFUSE_BASE_URL": url,
    },
}
GOOD: dict[str, Any] = {
    "parse_specification": [contract_answer()],
    "generate_code": [fenced(GOOD_CODE)],
    "generate_tests": [suite_answer()],
    "review_code": ["LGTM"],
}
CONTENT = ("top_k", "ValueError", "largest", "sorted(")  # of the specification, and of the code


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with open_sandbox(Settings(timeout_s=30)) as opened:
        yield opened


@pytest.fixture
def run(box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Does a run with tracers set up in the environment; its report, and its events."""

    def done(environment: dict[str, str], answers: dict[str, Any] = GOOD) -> Any:
        langsmith_utils.get_env_var.cache_clear()  # it remembers the environment
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        settings = Settings(
            mutants=0, hardening_rounds=0, openai_api_key=SECRETS[2], model_attempts=1
        )
        events: list[e.Event] = []
        model = ScriptedModel(answers=answers)
        agent = CodingAgent(settings, model=model, sandbox=box, emit=events.append)
        report: Report | None = None
        with suppress(GreenloopError):
            report = asyncio.run(agent.run(SPECIFICATION))
        return report, events

    yield done
    langsmith_utils.get_env_var.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("asked", [False, True], ids=["as it is", "asked for"])
def test_code_and_specification_are_sent_only_when_asked_for_and_keys_never(
    way: str, asked: bool, run: Callable[..., Any]
) -> None:
    with Collector() as place:
        content = {"GREENLOOP_TRACE_CONTENT": "1"} if asked else {}
        report, _ = run({**WAYS[way](place.url), **content})
        assert place.has("greenloop.verdict")
        sent = place.text
    assert report.verdict == "passed"
    for name in ("greenloop", *GOOD, "sandbox tests"):
        assert name in sent, name
    assert [word in sent for word in CONTENT] == [asked] * len(CONTENT)
    assert not [secret for secret in SECRETS if secret in sent]


@pytest.mark.slow
def test_there_is_a_span_for_the_run_for_each_call_and_for_each_sandbox_run(
    run: Callable[..., Any],
) -> None:
    with Collector() as place:
        report, events = run(WAYS["otel"](place.url))
        assert place.has("greenloop.verdict")
        spans = spans_of(place)
    root = spans["greenloop"][0]
    about = {item.key: item.value for item in root.attributes}
    assert about["greenloop.verdict"].string_value == report.verdict
    assert about["greenloop.module"].string_value == "topk"
    assert about["greenloop.tests.passed"].int_value == len(report.tests)
    assert about["greenloop.output_tokens"].int_value == report.usage.output_tokens
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
    assert len(boxed) == len(ran) > 3
    inner = [span for items in spans.values() for span in items if span is not root]
    assert {span.parent_span_id for span in inner} == {root.span_id}


def spans_of(place: Collector) -> dict[str, list[Any]]:
    """Spans as OTLP has them, by name."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    found: dict[str, list[Any]] = {}
    for item in place.sent:
        for resource in ExportTraceServiceRequest.FromString(item.body).resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    found.setdefault(span.name, []).append(span)
    return found


def test_a_run_that_breaks_off_ends_its_spans_and_says_the_kind_of_error_alone(
    run: Callable[..., Any],
) -> None:
    with Collector() as place:
        run(WAYS["otel"](place.url), {"parse_specification": [ValueError("told nobody")]})
        assert place.has("greenloop.verdict")
        spans = spans_of(place)
        assert "told nobody" not in place.text
    for name in ("greenloop", "parse_specification"):
        (span,) = spans[name]
        assert {item.key: item.value.string_value for item in span.attributes}["error.type"]
        assert span.status.code == 2


def test_a_call_that_was_given_up_is_not_taken_for_the_next_one() -> None:
    with Collector() as place, pytest.MonkeyPatch.context() as patched:
        patched.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", place.url)
        told_of(
            e.CallStarted("judge_test"),
            e.CallFailed("judge_test", "UnusableAnswerError"),
            e.CallStarted("judge_test"),
            e.CallFinished("judge_test", 1.0, 5, model="google_genai:gemini-3"),
        )
        assert place.has("judge_test")
        first, second = spans_of(place)["judge_test"]
    about = [{i.key: i.value.string_value for i in span.attributes} for span in (first, second)]
    assert about[0]["error.type"] == "UnusableAnswerError"
    assert "error.type" not in about[1]
    assert about[1]["gen_ai.provider.name"] == "gcp.gemini"
    assert about[1]["gen_ai.request.model"] == "gemini-3"


@pytest.mark.slow  # it is tried for 2 s
def test_an_address_where_nobody_listens_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with Collector() as gone:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", gone.url)
    sandbox, notice = told_of(e.SandboxJobStarted("1", "tests"))
    assert sandbox == e.SandboxJobStarted("1", "tests")
    assert isinstance(notice, e.Notice)
    assert notice.text.startswith("not all spans of this run were sent")


def test_a_protocol_that_is_not_spoken_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    (notice,) = told_of()
    assert isinstance(notice, e.Notice)
    assert "not by grpc" in notice.text


@pytest.mark.slow  # it waits for what never comes
def test_a_place_that_does_not_answer_breaks_nothing(run: Callable[..., Any]) -> None:
    with Collector(silent=True) as place:
        everything = {
            name: value for way in WAYS.values() for name, value in way(place.url).items()
        }
        report, events = run(everything)
        assert not place.over.is_set()
    assert report.verdict == "passed"
    (notice,) = [item for item in events if isinstance(item, e.Notice)]
    assert notice.text.startswith("not all spans of this run were sent")


def test_spans_go_to_the_provider_of_the_program_around(monkeypatch: pytest.MonkeyPatch) -> None:
    from opentelemetry import trace as api
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    provider, kept = trace.TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    monkeypatch.setattr(api, "get_tracer_provider", lambda: provider)
    with provider.get_tracer("host").start_as_current_span("host"):
        told_of(e.SandboxJobStarted("1", "tests"), e.SandboxJobEnded("1", "finished", 0.1))
    inner, run, host = kept.get_finished_spans()
    assert [inner.name, run.name, host.name] == ["sandbox tests", "greenloop", "host"]
    assert (inner.parent.span_id, run.parent.span_id) == (run.context.span_id, host.context.span_id)


def test_what_stands_in_the_env_file_holds_too() -> None:
    with Collector() as place:
        Path(".env").write_text(f"OTEL_EXPORTER_OTLP_ENDPOINT={place.url}\n")
        told_of(e.CallStarted("generate_code"), e.CallFinished("generate_code", 1.0, 5))
        assert place.has("generate_code")


def test_callbacks_of_the_program_around_are_kept_but_for_those_that_send_prompts() -> None:
    from langchain_core.tracers.langchain import LangChainTracer

    client = Client(api_url="http://127.0.0.1:9", api_key="x", auto_batch_tracing=False)
    counts, sends = UsageMetadataCallbackHandler(), LangChainTracer(client=client)
    assert remove_tracers([counts, sends]) == [counts]
    around = CallbackManager([counts, sends], inheritable_handlers=[counts, sends])
    kept = remove_tracers(around)
    assert (kept.handlers, kept.inheritable_handlers) == ([counts], [counts])
    assert around.handlers == [counts, sends]
