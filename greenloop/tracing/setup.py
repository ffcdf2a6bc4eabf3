"""Tracing as the environment configures it, opened once and used by one run or by many."""

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from dotenv import load_dotenv

from greenloop.events import Event, EventSink, Notice
from greenloop.tracing.environment import is_content_traced, list_enabled_presets
from greenloop.tracing.spans import RunSpans, Tracer, TracingSettingError
from greenloop.versions import format_install_command

# Limit for sending the rest at the end: an endpoint that is down must not delay the exit.
_CLOSE_TIMEOUT_SECONDS = 2.0
_EXPORTER_LOGGER = "opentelemetry"
_LOGGER = logging.getLogger(__name__)
T = TypeVar("T")


class Tracing:
    """The configured tracers. Without any, events pass unchanged."""

    def __init__(
        self, tracers: tuple[Tracer, ...] = (), *, content: bool = False, missing: str = ""
    ) -> None:
        self._tracers, self._content, self._missing = tracers, content, missing

    def __bool__(self) -> bool:
        return bool(self._tracers)

    @contextmanager
    def run(self, emit: EventSink) -> Iterator[EventSink]:
        """Yield the sink for the events of one run. A tracer that fails is dropped for this run."""
        if self._missing:
            emit(Notice(self._missing))
        runs = self._open_spans() if self._tracers else []

        def emit_traced(event: Event) -> None:
            emit(event)
            _drop_failing(runs, lambda spans: spans(event))

        error: str | None = None
        try:
            yield emit_traced if runs else emit
        except BaseException as problem:
            error = type(problem).__name__
            raise
        finally:
            _drop_failing(runs, lambda spans: spans.close(error))

    def _open_spans(self) -> list[RunSpans]:
        runs: list[RunSpans] = []
        content = self._content
        _drop_failing(
            list(self._tracers), lambda tracer: runs.append(RunSpans(tracer, content=content))
        )
        return runs

    def close(self) -> bool:
        """Send what is not sent yet; return False where the time limit was too short."""
        threads = [
            threading.Thread(
                target=_drop_failing, args=([tracer], lambda item: item.close()), daemon=True
            )
            for tracer in self._tracers
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(_CLOSE_TIMEOUT_SECONDS)
        return not any(thread.is_alive() for thread in threads)


@asynccontextmanager
async def trace_run(emit: EventSink, shared: Tracing | None = None) -> AsyncIterator[EventSink]:
    """Yield the sink for the events of one run; `shared` is closed by its owner, not here."""
    tracing = open_tracing() if shared is None else shared
    if shared is not None or not tracing:
        with tracing.run(emit) as traced:  # also without tracers: a notice may say why
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
    """Open the tracers that the environment and `.env` switch on; without any, import nothing."""
    if Path(".env").is_file():
        load_dotenv(".env", override=False)  # OpenTelemetry reads os.environ
    presets = list_enabled_presets(os.environ)
    if not presets:
        return Tracing()
    logger = logging.getLogger(_EXPORTER_LOGGER)
    if not any(isinstance(item, logging.NullHandler) for item in logger.handlers):
        logger.addHandler(logging.NullHandler())  # else its lines go to standard error
    tracers: list[Tracer] = []
    missing: list[str] = []
    for preset in presets:
        name = preset.name if preset else "OpenTelemetry"
        try:
            from greenloop.tracing.otel import OtelTracer

            tracers.append(OtelTracer(preset))
        except ImportError:
            missing.append(
                f"{name} is configured, but its packages are missing: "
                f"{format_install_command('otel')}"
            )
        except TracingSettingError as error:
            missing.append(str(error))
        except Exception as error:  # noqa: BLE001 - an invalid OTEL_* setting must not end the run
            missing.append(f"{name} cannot be used: {type(error).__name__}")
    return Tracing(
        tuple(tracers), content=is_content_traced(os.environ), missing="; ".join(missing)
    )


class _ExportErrors(logging.Handler):
    """Handler that notes whether the exporter logged an error; the text may hold part of a key."""

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


def _drop_failing(items: list[T], action: Callable[[T], object]) -> None:
    """Apply an action to each item, and drop those where it fails: tracing must not end a run."""
    for item in tuple(items):
        try:
            action(item)
        except Exception:
            _LOGGER.debug("tracing was stopped for this run", exc_info=True)
            with suppress(ValueError):  # another thread dropped it
                items.remove(item)
