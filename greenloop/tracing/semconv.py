"""Attribute names of OpenTelemetry's semantic conventions for generative AI."""

from __future__ import annotations

from typing import Literal

SpanType = Literal["run", "model", "sandbox"]
AttributeValue = str | int | float | bool

# The operation of each span, and the attribute for its name.
_OPERATIONS: dict[SpanType, tuple[str, str]] = {
    "run": ("invoke_agent", "gen_ai.agent.name"),
    "model": ("chat", ""),
    "sandbox": ("execute_tool", "gen_ai.tool.name"),
}
# LangChain's provider names where the conventions have a different one.
_PROVIDERS = {
    "azure_openai": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "bedrock_converse": "aws.bedrock",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "mistralai": "mistral_ai",
    "xai": "x_ai",
}


class TracingSettingError(Exception):
    """A tracing setting that cannot be used; its text says why and holds no secret."""


def span_attributes(kind: SpanType, name: str) -> dict[str, AttributeValue]:
    """Return the attributes that are known when a span starts."""
    operation, attribute = _OPERATIONS[kind]
    return {"gen_ai.operation.name": operation, **({attribute: name} if attribute else {})}


def model_attributes(name: str) -> dict[str, AttributeValue]:
    """Return provider and model of `provider:model`; the model alone where no provider is named."""
    provider, colon, model = name.partition(":")
    if not colon:
        return {"gen_ai.request.model": name}
    return {
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": model,
    }
