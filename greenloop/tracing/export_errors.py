"""Spans that cannot be sent: the person is told so in one line, not in those of the packages."""

from __future__ import annotations

import logging

_DESTINATIONS = {"opentelemetry": "the OTLP endpoint", "langsmith": "LangSmith"}


def silence_exporter_logs() -> None:
    """What the packages log is shown to nobody who did not set up logging, now and later."""
    for name in _DESTINATIONS:
        logger = logging.getLogger(name)
        if not any(isinstance(item, logging.NullHandler) for item in logger.handlers):
            logger.addHandler(logging.NullHandler())


class ExportErrorHandler(logging.Handler):
    """Listens to what the packages log while the `with` block runs. None of it is shown: it may hold
    a part of a key."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.destinations: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        package = record.name.partition(".")[0]
        if package == "langsmith" or record.levelno >= logging.ERROR:  # the other warns and retries
            self.destinations.add(_DESTINATIONS.get(package, package))

    def describe(self) -> str:
        """A line for the person."""
        who = " and ".join(sorted(self.destinations))
        why = f"{who} did not take them" if who else "nobody took them in time"
        return f"not all spans of this run were sent: {why}"

    def __enter__(self) -> ExportErrorHandler:
        for name in _DESTINATIONS:
            logging.getLogger(name).addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        for name in _DESTINATIONS:
            logging.getLogger(name).removeHandler(self)
