"""Spans of a run for OpenTelemetry, LangSmith and Langfuse, all sent by OTLP."""
