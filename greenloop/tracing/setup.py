"""Tracing as the environment asks for it: opened once, used by one run or by many."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.events import Event, EventSink, Notice
from greenloop.tracing.export_errors import ExportErrorHandler, silence_exporter_logs
from greenloop.tracing.spans import RunSpans
from greenloop.tracing.tracer import Tracer, TracingSettingError

_CLOSE_TIMEOUT_SECONDS = (
    2.0  # for what is not sent yet, at the end: an endpoint that is down must not hold us up
)


class Tracing:
    """Where the spans of runs go. Without tracers, nothing is done at all."""

    def __init__(
        self, tracers: tuple[Tracer, ...] = (), *, content: bool = False, missing: str = ""
    ) -> None:
        self._tracers, self._content, self._missing = tracers, content, missing

    def __bool__(self) -> bool:
        return bool(self._tracers)

    @contextmanager
    def run(self, emit: EventSink) -> Iterator[EventSink]:
        """The events of one run go through what is yielded. No tracer can break the run."""
        if self._missing:
            emit(Notice(self._missing))
        listeners = [_GuardedSpans(tracer, content=self._content) for tracer in self._tracers]

        def tell(event: Event) -> None:
            emit(event)
            for listener in listeners:
                listener.apply(lambda spans: spans(event))

        error: str | None = None
        try:
            yield tell if listeners else emit
        except BaseException as problem:
            error = type(problem).__name__
            raise
        finally:
            for listener in listeners:
                listener.apply(lambda spans: spans.close(error))

    def close(self) -> bool:
        """Sends what is not sent yet, for a short while. False where that was too short."""
        threads = [
            threading.Thread(target=_suppress_errors(t.close), daemon=True) for t in self._tracers
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(_CLOSE_TIMEOUT_SECONDS)
        return not any(thread.is_alive() for thread in threads)


@asynccontextmanager
async def trace_run(emit: EventSink, shared: Tracing | None = None) -> AsyncIterator[EventSink]:
    """The events of one run go through what is yielded; `shared` is somebody else's to close."""
    if shared is not None:
        with shared.run(emit) as told:
            yield told
        return
    tracing = open_tracing()
    if not tracing:
        with tracing.run(emit) as told:  # it may have to tell why there is none
            yield told
        return
    with ExportErrorHandler() as unsent:
        try:
            with tracing.run(emit) as told:
                yield told
        finally:
            in_time = await asyncio.to_thread(tracing.close)
            if unsent.destinations or not in_time:
                emit(Notice(unsent.describe()))


class _GuardedSpans:
    """The spans of one run at one tracer, which is left alone after its first mistake."""

    def __init__(self, tracer: Tracer, *, content: bool) -> None:
        self._spans: RunSpans | None = None
        try:
            self._spans = RunSpans(tracer, content=content)
        except Exception:  # noqa: BLE001
            _get_logger().debug("tracing: no span could be begun", exc_info=True)

    def apply(self, action: Callable[[RunSpans], None]) -> None:
        if self._spans is None:
            return
        try:
            action(self._spans)
        except Exception:  # noqa: BLE001
            self._spans = None
            _get_logger().debug("tracing was given up for this run", exc_info=True)


def open_tracing() -> Tracing:
    """What the environment, and `.env`, ask for. Imports nothing else than what they do."""
    if Path(".env").is_file():
        from dotenv import load_dotenv

        load_dotenv(".env", override=False)  # the packages read os.environ, as those of models do
    wanted = TracingEnvironment.from_environment(os.environ)
    if not wanted.is_enabled:
        return Tracing()
    silence_exporter_logs()
    tracers: list[Tracer] = []
    missing: list[str] = []
    for name, extra, open_one in _tracer_factories(wanted):
        try:
            tracers.append(open_one())
        except ImportError:
            missing.append(f"{name} is set up, but its package is missing: pip install {extra!r}")
        except TracingSettingError as error:
            missing.append(str(error))
        except Exception as error:  # noqa: BLE001 - a setting of theirs is no reason not to run
            missing.append(f"{name} cannot be used: {type(error).__name__}")
    return Tracing(tuple(tracers), content=wanted.content, missing="; ".join(missing))


def _tracer_factories(
    environment: TracingEnvironment,
) -> Iterator[tuple[str, str, Callable[[], Tracer]]]:
    if environment.otel:
        yield "OpenTelemetry", "greenloop[otel]", _create_otel_tracer
    if environment.langsmith:
        yield "LangSmith", "langsmith", _langsmith
    if environment.langfuse:
        yield "Langfuse", "greenloop[otel]", _langfuse


def _create_otel_tracer() -> Tracer:
    from greenloop.tracing.otel import OtelTracer

    return OtelTracer()


def _langsmith() -> Tracer:
    from greenloop.tracing.langsmith import LangSmithTracer

    return LangSmithTracer()


def _langfuse() -> Tracer:
    from greenloop.tracing.langfuse import LangfuseTracer

    return LangfuseTracer()


def _suppress_errors(work: Callable[[], Any]) -> Callable[[], None]:
    def done() -> None:
        try:
            work()
        except Exception:  # noqa: BLE001
            _get_logger().debug("tracing: what was left could not be sent", exc_info=True)

    return done


def _get_logger() -> logging.Logger:
    return logging.getLogger(__name__)


_TRUE_VALUES = ("true", "1", "yes", "on")
_OTLP_ENDPOINT_VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
CONTENT_VARIABLE = "GREENLOOP_TRACE_CONTENT"


@dataclass(frozen=True)
class TracingEnvironment:
    """`content`: spans may hold specifications, prompts, code and output too."""

    otel: bool = False
    langsmith: bool = False
    langfuse: bool = False
    content: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> TracingEnvironment:
        return cls(
            otel=_is_otel_enabled(environment),
            langsmith=_is_true(environment, "LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2")
            and _is_set(environment, "LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"),
            langfuse=_is_set(environment, "LANGFUSE_PUBLIC_KEY")
            and _is_set(environment, "LANGFUSE_SECRET_KEY")
            and environment.get("LANGFUSE_TRACING_ENABLED", "true").lower() in _TRUE_VALUES,
            content=_is_true(environment, CONTENT_VARIABLE),
        )

    @property
    def is_enabled(self) -> bool:
        return self.otel or self.langsmith or self.langfuse


def _is_otel_enabled(environment: Mapping[str, str]) -> bool:
    exporters = environment.get("OTEL_TRACES_EXPORTER", "").lower().replace(" ", "").split(",")
    if _is_true(environment, "OTEL_SDK_DISABLED") or "none" in exporters:
        return False
    return "otlp" in exporters or (
        exporters == [""] and _is_set(environment, *_OTLP_ENDPOINT_VARIABLES)
    )


def _is_set(environment: Mapping[str, str], *names: str) -> bool:
    return any(environment.get(name, "").strip() for name in names)


def _is_true(environment: Mapping[str, str], *names: str) -> bool:
    return any(environment.get(name, "").strip().lower() in _TRUE_VALUES for name in names)
