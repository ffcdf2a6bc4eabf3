"""Factory of chat models: from a configured name to a source of answers."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from greenloop.errors import (
    GreenloopError,
    InputError,
    ModelFailure,
    NoModelError,
    SettingsError,
)
from greenloop.llm.budget import UNPRICED_PROVIDER
from greenloop.llm.chat import ChatSource
from greenloop.llm.model_selection import ModelChoice, choose_model
from greenloop.llm.provider_errors import summarize_error
from greenloop.llm.replay import ReplayChatModel
from greenloop.plugins import list_plugins, load_plugin
from greenloop.settings import Settings
from greenloop.versions import format_install_command

_EXTRA_BY_PROVIDER = {
    "anthropic": "anthropic",
    "ollama": "ollama",
    "google_genai": "google",
    "mistralai": "mistral",
    "groq": "groq",
}
_PROVIDER_BY_EXTRA = {extra: name for name, extra in _EXTRA_BY_PROVIDER.items()}


def open_sources(settings: Settings) -> list[ChatSource]:
    """Return the model to use and, where one is configured, its fallback.

    Raises:
        NoModelError: no model is configured, or its package is not installed.
        InputError: a replay file cannot be read.
    """
    _check_enabled(settings)
    sources = [open_source(choose_model(settings), settings)]
    if settings.fallback_model:
        sources.append(open_source(ModelChoice(settings.fallback_model), settings))
    return sources


def check_models(settings: Settings) -> None:
    """Check that there is a model, and that each named model can be set up.

    Raises as `open_sources` does.
    """
    _check_enabled(settings)
    choose_model(settings)
    for name in filter(None, (settings.model, settings.fallback_model)):
        kind, _, rest = name.partition(":")
        if not (rest and kind in list_plugins("greenloop.models")):
            open_source(ModelChoice(name), settings)


def _check_enabled(settings: Settings) -> None:
    if settings.is_model_disabled:
        raise NoModelError("--model none works with heal --tests only: name a model")


def open_source(choice: ModelChoice, settings: Settings) -> ChatSource:
    """Return the chat model of one choice. Raises as `open_sources` does."""
    kind, _, rest = choice.name.partition(":")
    if kind == "replay":
        try:
            model = ReplayChatModel.from_file(Path(rest))
        except InputError as error:
            raise InputError(f"--model {choice.name}: {error}") from None
        return ChatSource(choice.name, model, is_recorded=True)
    plugin = load_plugin("greenloop.models", kind) if rest else None
    if plugin is not None:
        return ChatSource(choice.name, _build_plugin_model(plugin, rest, choice, settings))
    return ChatSource(_get_billed_name(choice, settings), _build_chat_model(choice, settings))


def _build_plugin_model(plugin: Any, name: str, choice: ModelChoice, settings: Settings) -> Any:
    """Call a registered provider: `plugin(name, settings)` returns a BaseChatModel."""
    from langchain_core.language_models import BaseChatModel

    try:
        model = plugin(name, settings)
    except GreenloopError:
        raise
    except Exception as error:
        raise NoModelError(
            f"the model {choice.name} cannot be created by its plugin: {summarize_error(error)}"
        ) from error
    if not isinstance(model, BaseChatModel):
        raise NoModelError(
            f"the plugin of {choice.name} returned {type(model).__name__}, not a BaseChatModel"
        )
    return model


def _get_billed_name(choice: ModelChoice, settings: Settings) -> str:
    """Return the name under which the model is priced; other servers have no known prices."""
    base_url = choice.base_url or settings.openai_base_url
    if not base_url or urlsplit(base_url).hostname == "api.openai.com":
        return choice.name
    name = choice.name if ":" in choice.name else f"openai:{choice.name}"
    is_server = name.startswith("openai:")
    return f"{UNPRICED_PROVIDER}:{name.removeprefix('openai:')}" if is_server else name


def _build_chat_model(choice: ModelChoice, settings: Settings) -> Any:
    from dotenv import load_dotenv
    from langchain.chat_models import init_chat_model

    load_dotenv(".env", override=False)  # other providers' packages read their keys from os.environ
    name = choice.name
    if ":" not in name and (choice.base_url or settings.openai_base_url):
        name = f"openai:{name}"
    provider, _, rest = name.partition(":")
    meant = _PROVIDER_BY_EXTRA.get(provider, provider)
    if rest and meant != provider:
        raise SettingsError(f"--model {name}: no such provider; did you mean {meant}:{rest}?")
    if not rest and provider in _list_providers():
        raise SettingsError(f"--model {name} names no model: use {provider}:NAME")
    address = choice.base_url or settings.openai_base_url
    if provider == "openai" and address and not address.startswith(("http://", "https://")):
        raise SettingsError(f"OPENAI_BASE_URL={address} must begin with http:// or https://")
    try:
        options = _build_options(provider, choice, settings)
        if provider == "openai" and address:
            from greenloop.llm.openai_server import ServerChatModel

            return ServerChatModel(model=rest, **options)
        return init_chat_model(name, **options)
    except ImportError as error:
        extra = _EXTRA_BY_PROVIDER.get(provider)
        how = format_install_command(extra) if extra else str(error)
        raise NoModelError(
            f"the model {choice.name} needs a package that is missing: {how}"
        ) from None
    except Exception as error:
        # Compared by name: the packages are optional. First: pydantic's error is a ValueError.
        if type(error).__name__ in ("OpenAIError", "ValidationError"):
            raise NoModelError(
                f"the model {choice.name} needs its API key; set {_get_key_name(provider)} in the "
                "environment or in .env"
            ) from None
        if isinstance(error, ValueError) and provider not in _list_providers():
            likely = (
                f"your server, openai:{name}"
                if address
                else f"Ollama, ollama:{name}; for another server set OPENAI_BASE_URL"
            )
            raise SettingsError(
                f"--model {name}: no such provider; use PROVIDER:NAME (for {likely}) with one of "
                f"{', '.join(_list_providers())}, or any other provider of LangChain"
            ) from None
        raise ModelFailure(
            f"the model {choice.name} cannot be set up: {str(error).strip().partition(chr(10))[0][:200]}"
        ) from error


def _build_options(provider: str, choice: ModelChoice, settings: Settings) -> dict[str, Any]:
    """Return the constructor arguments: a timeout, and no retries besides greenloop's."""
    if provider == "ollama":
        local = {"num_ctx": settings.num_ctx, "base_url": choice.base_url}
        return local | {"client_kwargs": {"timeout": settings.model_timeout_s}}
    options: dict[str, Any] = {"timeout": settings.model_timeout_s, "max_retries": 0}
    if provider == "openai" or choice.name.startswith(("gpt-", "o1", "o3", "o4")):
        base_url = choice.base_url or settings.openai_base_url
        key = settings.openai_api_key
        options |= {"stream_usage": True, "base_url": base_url}
        options["api_key"] = key.get_secret_value() if key else ("none" if base_url else None)
    return options


def _get_key_name(provider: str) -> str:
    """Return the environment variable that holds a provider's key."""
    inferred = {"claude": "anthropic", "gemini": "google_genai", "mistral": "mistralai"}
    found = next((name for start, name in inferred.items() if provider.startswith(start)), provider)
    if found.startswith(("gpt-", "o1", "o3", "o4")):
        found = "openai"
    return {"google_genai": "GOOGLE_API_KEY", "mistralai": "MISTRAL_API_KEY"}.get(
        found, f"{found.upper()}_API_KEY"
    )


def _list_providers() -> list[str]:
    return sorted({"openai", "replay", *_EXTRA_BY_PROVIDER, *list_plugins("greenloop.models")})
