"""Names of OpenTelemetry's conventions for generative AI, where they have one for what we say."""

from __future__ import annotations

from greenloop.tracing.tracer import AttributeValue, SpanType

_OPERATIONS: dict[SpanType, str] = {
    "run": "invoke_agent",
    "model": "chat",
    "sandbox": "execute_tool",
}
# As LangChain names them, where that is another name than theirs.
_PROVIDERS = {
    "azure_openai": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "bedrock_converse": "aws.bedrock",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "mistralai": "mistral_ai",
    "xai": "x_ai",
}


def span_attributes(kind: SpanType, name: str) -> dict[str, AttributeValue]:
    """What is known of a span when it begins."""
    about: dict[str, AttributeValue] = {"gen_ai.operation.name": _OPERATIONS[kind]}
    if kind == "run":
        about["gen_ai.agent.name"] = name
    elif kind == "sandbox":
        about["gen_ai.tool.name"] = name
    return about


def model_attributes(name: str) -> dict[str, AttributeValue]:
    """A model's provider and name, of `provider:name`; without the first where there is none."""
    provider, colon, model = name.partition(":")
    if not colon:
        return {"gen_ai.request.model": name}
    return {
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": model,
    }
