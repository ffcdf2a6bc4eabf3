"""Selection of the model: the configured one, or the best that this machine offers."""

import http.client
import json
import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from importlib.util import find_spec

from greenloop.errors import NoModelError
from greenloop.settings import Settings

_OPENAI_DEFAULT = "gpt-5.4-mini"
_OPENAI_ADDRESS = "https://api.openai.com/v1"
_OLLAMA_PORT = 11434
_PROBE_SECONDS = 1.0
_REACH_SECONDS = 5.0
# Code models first, newest family first; matched as prefixes.
_PREFERRED_FAMILIES = (
    "qwen3-coder devstral gpt-oss qwen2.5-coder deepseek-coder codestral codegemma starcoder "
    "codellama qwen3 deepseek-r1 llama mistral"
).split()
_NO_MODEL_MESSAGE = """no model is configured
Use one of these:
  --model or GREENLOOP_MODEL   PROVIDER:NAME, such as anthropic:claude-sonnet-5
  OPENAI_API_KEY               in the environment or .env; uses {default}
  OPENAI_BASE_URL              a server with the OpenAI API: vLLM, LM Studio, …
  a running Ollama server      https://ollama.com, then: ollama pull qwen3-coder
A recorded run in a clone, without a model:
  greenloop examples/roman_numerals.md --model replay:examples"""


@dataclass(frozen=True)
class ModelChoice:
    """A model's name, its server where it is not the provider's, and the reason of the choice."""

    name: str
    base_url: str | None = None
    reason: str = ""


def choose_model(settings: Settings) -> ModelChoice:
    """Return the model to use.

    Raises NoModelError: none is configured, and this machine offers none.
    """
    if settings.model:
        return ModelChoice(settings.model)
    if settings.openai_base_url:
        return _choose_from_server(settings.openai_base_url, settings)
    if settings.openai_api_key:
        return ModelChoice(f"openai:{_OPENAI_DEFAULT}", reason="OPENAI_API_KEY is set")
    host = _find_ollama_host(settings)
    local = select_best(list_ollama_models(host))
    if local:
        reason = f"an Ollama server answers at {host}"
        if find_spec("langchain_ollama"):  # Ollama's OpenAI API cannot set the context length
            return ModelChoice(f"ollama:{local}", host, reason)
        return ModelChoice(f"openai:{local}", f"{host}/v1", reason)
    raise NoModelError(_NO_MODEL_MESSAGE.format(default=f"openai:{_OPENAI_DEFAULT}"))


def _choose_from_server(base_url: str, settings: Settings) -> ModelChoice:
    """Return the default model where the server has it or lists nothing, else the best listed."""
    names = _list_openai_models(base_url, settings)
    name = _OPENAI_DEFAULT if not names or _OPENAI_DEFAULT in names else select_best(names)
    if name is None:
        raise NoModelError(
            f"OPENAI_BASE_URL: {base_url} lists no chat model ({', '.join(names)}); "
            "name one with --model or GREENLOOP_MODEL"
        )
    return ModelChoice(f"openai:{name}", base_url, reason="OPENAI_BASE_URL is set")


def _list_openai_models(base_url: str, settings: Settings) -> list[str]:
    key = settings.openai_api_key
    headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
    return _fetch_names(base_url.rstrip("/") + "/models", "data", "id", headers)


def _find_ollama_host(settings: Settings) -> str:
    host = settings.ollama_host.rstrip("/")
    if "://" in host:
        return host
    return f"http://{host}" if re.search(r":\d+$", host) else f"http://{host}:{_OLLAMA_PORT}"


def list_ollama_models(host: str) -> list[str]:
    """Return the names of an Ollama server's models; [] where no server answers."""
    return _fetch_names(f"{host}/api/tags", "models", "name", {})


def list_served_models(choice: ModelChoice, settings: Settings) -> list[str]:
    """Return the models that a model's server lists; [] where it lists none, or is not known.

    The request is free: no model is called.
    """
    provider = choice.name.partition(":")[0]
    if provider == "ollama":
        return list_ollama_models(choice.base_url or _find_ollama_host(settings))
    if provider != "openai":
        return []
    address = choice.base_url or settings.openai_base_url or _OPENAI_ADDRESS
    return _list_openai_models(address, settings)


def can_reach(address: str) -> bool:
    """Return whether a server answers at an address, be it with an error status."""
    try:
        with urllib.request.urlopen(address, timeout=_REACH_SECONDS):
            return True
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError, http.client.HTTPException):
        return False


def select_best(names: list[str]) -> str | None:
    """Return the preferred model for code: by family, then the first listed."""

    def rank(name: str) -> int:
        bare = name.rpartition("/")[2].lower()
        found = (i for i, family in enumerate(_PREFERRED_FAMILIES) if bare.startswith(family))
        return next(found, len(_PREFERRED_FAMILIES))

    usable = [name for name in names if "embed" not in name.lower()]
    return min(usable, key=rank, default=None)


def _fetch_names(url: str, list_key: str, name_key: str, headers: dict[str, str]) -> list[str]:
    """Return the names of the models that a server lists; [] where none answers."""
    if not url.startswith(("http://", "https://")):
        return []
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=_PROBE_SECONDS) as response:
            value = json.loads(response.read(1_000_000))
    except (OSError, ValueError, http.client.HTTPException):
        return []
    items = value.get(list_key) if isinstance(value, dict) else None
    found = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return [str(item[name_key]) for item in found if item.get(name_key)]
