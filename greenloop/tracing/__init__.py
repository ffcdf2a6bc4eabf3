"""What a run does, as spans for OpenTelemetry, LangSmith and Langfuse."""
