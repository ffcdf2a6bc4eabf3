"""Tracing configured by environment variables, for one run or shared by many."""

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dotenv import load_dotenv

from greenloop.errors import SettingsError
from greenloop.events import Event, EventSink, Notice
from greenloop.versions import format_install_command

if TYPE_CHECKING:
    from greenloop.tracing.otel import OtelTracer

# Limit for sending the rest at the end: an endpoint that is down must not delay the exit.
_CLOSE_TIMEOUT_SECONDS = 2.0
_EXPORTER_LOGGER = "opentelemetry"
_LOGGER = logging.getLogger(__name__)
_TRUE_VALUES = ("true", "1", "yes", "on")
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
T = TypeVar("T")


class Tracing:
    """The configured tracer. Without one, events pass unchanged."""

    def __init__(self, tracer: "OtelTracer | None" = None, *, missing: str = "") -> None:
        self._tracer, self._missing = tracer, missing

    def __bool__(self) -> bool:
        return self._tracer is not None

    @contextmanager
    def run(self, emit: EventSink) -> Iterator[EventSink]:
        """Yield the event sink of one run, which stops using the tracer after its first failure."""
        if self._missing:
            emit(Notice(self._missing))
        guard = _Guard()
        spans = guard.call(self._tracer.start_run) if self._tracer else None
        if spans is None:
            yield emit
            return

        def emit_traced(event: Event) -> None:
            emit(event)
            guard.call(lambda: spans(event))

        error = ""
        try:
            yield emit_traced
        except BaseException as problem:
            error = type(problem).__name__
            raise
        finally:
            guard.call(lambda: spans.close(error))

    def close(self) -> bool:
        """Send the remaining spans; return False if that exceeds the time limit."""
        if self._tracer is None:
            return True
        thread = threading.Thread(target=_Guard().call, args=(self._tracer.close,), daemon=True)
        thread.start()
        thread.join(_CLOSE_TIMEOUT_SECONDS)
        return not thread.is_alive()


@asynccontextmanager
async def trace_run(emit: EventSink, shared: Tracing | None = None) -> AsyncIterator[EventSink]:
    """Yield the event sink of one run; `shared` is closed by its owner, not here."""
    tracing = open_tracing() if shared is None else shared
    if shared is not None or not tracing:
        with tracing.run(emit) as traced:  # also without a tracer: a notice may say why
            yield traced
        return
    with _ExportErrors() as errors:
        try:
            with tracing.run(emit) as traced:
                yield traced
        finally:
            in_time = await asyncio.to_thread(tracing.close)
            if errors.found or not in_time:
                reason = "refused them or was not reached" if errors.found else "did not answer"
                emit(Notice(f"not all spans of this run were sent: the OTLP endpoint {reason}"))


def open_tracing() -> Tracing:
    """Open the tracer that the environment or `.env` enables; otherwise import nothing."""
    if Path(".env").is_file():
        load_dotenv(".env", override=False)  # OpenTelemetry reads os.environ
    if not is_enabled(os.environ):
        return Tracing()
    logger = logging.getLogger(_EXPORTER_LOGGER)
    if not any(isinstance(item, logging.NullHandler) for item in logger.handlers):
        logger.addHandler(logging.NullHandler())  # else its lines go to standard error
    try:
        from greenloop.tracing.otel import OtelTracer

        return Tracing(OtelTracer(content=is_content_traced(os.environ)))
    except ImportError:
        command = format_install_command("otel")
        missing = f"OpenTelemetry is configured, but its packages are missing: {command}"
    except SettingsError as error:
        missing = str(error)
    except Exception as error:  # noqa: BLE001 - an invalid OTEL_* setting must not end the run
        missing = f"OpenTelemetry cannot be used: {type(error).__name__}"
    return Tracing(missing=missing)


def is_enabled(environment: Mapping[str, str]) -> bool:
    """Return whether OTEL_* variables ask for spans by OTLP."""
    exporters = environment.get("OTEL_TRACES_EXPORTER", "").lower().replace(" ", "").split(",")
    if _is_true(environment, "OTEL_SDK_DISABLED") or "none" in exporters:
        return False
    return "otlp" in exporters or (
        exporters == [""] and any(environment.get(name, "").strip() for name in _ENDPOINTS)
    )


def is_content_traced(environment: Mapping[str, str]) -> bool:
    """Return whether spans may hold specifications, prompts, code and output."""
    return _is_true(environment, "GREENLOOP_TRACE_CONTENT")


def _is_true(environment: Mapping[str, str], name: str) -> bool:
    return environment.get(name, "").strip().lower() in _TRUE_VALUES


class _ExportErrors(logging.Handler):
    """Log handler that records that the exporter failed, not the text, which may hold a key."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found = False

    def emit(self, record: logging.LogRecord) -> None:
        self.found = True

    def __enter__(self) -> "_ExportErrors":
        logging.getLogger(_EXPORTER_LOGGER).addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger(_EXPORTER_LOGGER).removeHandler(self)


class _Guard:
    """Caller that ignores further calls after a failure, because tracing must not end a run."""

    def __init__(self) -> None:
        self._has_failed = False

    def call(self, action: Callable[[], T]) -> T | None:
        """Return the result of an action, None after a failure."""
        if not self._has_failed:
            try:
                return action()
            except Exception:
                _LOGGER.debug("tracing was stopped for this run", exc_info=True)
                self._has_failed = True
        return None
