"""Factory of chat models, and its errors."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from greenloop.errors import InputError, ModelFailure, NoModelError, SettingsError
from greenloop.llm.budget import TokenCount, calculate_cost
from greenloop.llm.factory import open_source, open_sources
from greenloop.llm.model_selection import ModelChoice
from greenloop.llm.replay import ReplayChatModel
from greenloop.settings import Settings

NOWHERE = "http://127.0.0.1:9/v1"
KEY = {"openai_api_key": "sk-test"}


def open_model(model: str, base_url: str | None = None, **settings: object) -> ChatOpenAI:
    source = open_source(ModelChoice(model, base_url), Settings.load(**settings))
    assert isinstance(source.model, ChatOpenAI)
    assert source.name.rpartition(":")[2] == model.rpartition(":")[2]
    assert not source.is_recorded
    return source.model


@pytest.fixture
def replay(tmp_path: Path) -> str:
    (tmp_path / "run.jsonl").write_text('{"tool": "a", "answer": "1"}\n')
    return f"replay:{tmp_path / 'run.jsonl'}"


@pytest.mark.parametrize("name", ["openai:gpt-5.4", "gpt-5.4"])
def test_openai_model_gets_timeout_key_and_no_retries(name: str) -> None:
    model = open_model(name, model_timeout_s=12, **KEY)
    assert model.model_name == "gpt-5.4"
    assert (model.request_timeout, model.max_retries, model.stream_usage) == (12, 0, True)
    assert model.openai_api_key is not None
    assert model.openai_api_key.get_secret_value() == "sk-test"  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["openai:local", "local"])
def test_custom_server_needs_no_key(name: str) -> None:
    model = open_model(name, openai_base_url=NOWHERE)
    assert (model.model_name, model.openai_api_base) == ("local", NOWHERE)


def test_address_without_a_scheme_is_refused_before_a_call() -> None:
    with pytest.raises(
        SettingsError, match="OPENAI_BASE_URL=localhost:8000/v1 must begin with http"
    ):
        open_model("openai:x", openai_base_url="localhost:8000/v1")


def test_server_of_the_choice_overrides_the_settings() -> None:
    assert (
        open_model("openai:x", NOWHERE, openai_base_url="http://other").openai_api_base == NOWHERE
    )


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        (None, "openai:gpt-5.4"),
        ("https://api.openai.com/v1", "openai:gpt-5.4"),
        (NOWHERE, "openai-compatible:gpt-5.4"),
    ],
)
def test_provider_prices_apply_to_its_own_server_only(base_url: str | None, name: str) -> None:
    source = open_source(ModelChoice("openai:gpt-5.4", base_url), Settings.load(**KEY))
    assert source.name == name
    bare = open_source(ModelChoice("gpt-5.4", base_url), Settings.load(**KEY))
    assert bare.name == (name if base_url == NOWHERE else "gpt-5.4")
    known = calculate_cost(source.name, TokenCount(input_tokens=10)) is not None
    assert known == name.startswith("openai:")


def test_ollama_gets_the_context_length_and_the_timeout() -> None:
    with mock.patch("langchain.chat_models.init_chat_model") as made:
        open_source(ModelChoice("ollama:qwen3", "http://h:1"), Settings.load(num_ctx=9000))
    options = {"num_ctx": 9000, "base_url": "http://h:1", "client_kwargs": {"timeout": 300}}
    made.assert_called_once_with("ollama:qwen3", **options)


def test_ollama_name_may_contain_a_colon() -> None:
    assert open_model("openai:qwen3-coder:30b", NOWHERE).model_name == "qwen3-coder:30b"


def test_replay_file_is_opened(replay: str) -> None:
    (source,) = open_sources(Settings.load(model=replay))
    assert isinstance(source.model, ReplayChatModel)
    assert (source.name, source.is_recorded) == (replay, True)


@pytest.mark.parametrize("name", ["replay:missing.jsonl", "replay:"])
def test_unreadable_replay_file_is_an_input_error(name: str) -> None:
    with pytest.raises(InputError, match=r"cannot be read as a replay file|has no recording"):
        open_sources(Settings.load(model=name))


def test_fallback_is_second(replay: str) -> None:
    settings = Settings.load(model=replay, fallback_model="openai:x", **KEY)
    assert [source.name for source in open_sources(settings)] == [replay, "openai:x"]


class TestMissing:
    @pytest.mark.parametrize(
        ("name", "module", "extra"),
        [
            ("anthropic:claude", "langchain_anthropic", "anthropic"),
            ("ollama:qwen3", "langchain_ollama", "ollama"),
            ("google_genai:gemini", "langchain_google_genai", "google"),
            ("mistralai:codestral", "langchain_mistralai", "mistral"),
            ("groq:llama", "langchain_groq", "groq"),
        ],
    )
    def test_missing_package_error_has_the_install_command(
        self, name: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(NoModelError, match=rf"pip install .*\[{extra}\]'"):
            open_sources(Settings.load(model=name))

    def test_missing_package_without_an_extra_is_named(self) -> None:
        with pytest.raises(NoModelError, match="langchain-xai"):
            open_sources(Settings.load(model="xai:grok"))

    def test_missing_key_is_reported(self) -> None:
        with pytest.raises(NoModelError, match=r"openai:gpt-5\.4 needs its API key"):
            open_sources(Settings.load(model="openai:gpt-5.4"))

    @pytest.mark.parametrize(
        ("name", "said"),
        [("nonsense", ": no such"), ("nobody:x", ": no such"), ("openai", " names no model: use")],
    )
    def test_unknown_model_name_is_reported_in_one_line(self, name: str, said: str) -> None:
        with pytest.raises(SettingsError, match=f"--model {name}{said}") as caught:
            open_sources(Settings.load(model=name))
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("raised", "kind", "said"),
        [
            ("validation", NoModelError, "needs its API key; set "),
            (RuntimeError("odd\nthing"), ModelFailure, "cannot be set up: odd"),
        ],
    )
    def test_other_errors_of_a_provider_are_reported(
        self,
        raised: str | Exception,
        kind: type[ModelFailure],
        said: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        class NeedsKey(BaseModel):
            api_key: str

        def init(*_: object, **__: object) -> None:
            if isinstance(raised, Exception):
                raise raised
            NeedsKey.model_validate({})

        monkeypatch.setattr("langchain.chat_models.init_chat_model", init)
        with pytest.raises(kind, match=said) as caught:
            open_sources(Settings.load(model="acme:x"))
        assert type(caught.value) is kind
        assert "\n" not in str(caught.value)


class TestPlugins:
    """Providers registered under the entry points `greenloop.models`."""

    @pytest.fixture
    def register(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
        def use(plugin: object) -> None:
            entry = mock.Mock(value="acme:make", load=lambda: plugin)
            entry.name = "acme"
            monkeypatch.setattr("greenloop.plugins.entry_points", lambda group: [entry])

        return use

    def test_registered_provider_creates_the_model(
        self, register: Callable[[object], None]
    ) -> None:
        created: list[tuple[str, Settings]] = []

        def make(name: str, settings: Settings) -> ReplayChatModel:
            created.append((name, settings))
            return ReplayChatModel([])

        register(make)
        settings = Settings.load(model="acme:big:latest")
        (source,) = open_sources(settings)
        assert (source.name, source.is_recorded) == ("acme:big:latest", False)
        assert isinstance(source.model, ReplayChatModel)
        assert created == [("big:latest", settings)]

    def test_other_names_still_go_to_langchain(self, register: Callable[[object], None]) -> None:
        register(pytest.fail)
        assert open_model("openai:gpt-5.4", **KEY).model_name == "gpt-5.4"

    def test_wrong_result_is_one_line(self, register: Callable[[object], None]) -> None:
        register(lambda _name, _settings: "model")
        with pytest.raises(NoModelError, match=r"plugin of acme:x returned str, not a BaseChat"):
            open_sources(Settings.load(model="acme:x"))

    def test_error_is_one_line_without_secrets(self, register: Callable[[object], None]) -> None:
        def make(_name: str, _settings: Settings) -> None:
            raise RuntimeError("no access\nwith sk-abcdefghijklmnop")

        register(make)
        with pytest.raises(NoModelError, match=r"RuntimeError: no access with \*\*\*$"):
            open_sources(Settings.load(model="acme:x"))


def test_keys_of_other_providers_are_read_from_the_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("ANTHROPIC_API_KEY=from-file\nOPENAI_API_KEY=sk-file\n")
    os.environ["OPENAI_API_KEY"] = "sk-environment"
    model = open_sources(Settings.load(model="openai:x"))[0].model
    assert os.environ["ANTHROPIC_API_KEY"] == "from-file"
    assert isinstance(model, ChatOpenAI)
    assert model.openai_api_key.get_secret_value() == "sk-environment"  # type: ignore[union-attr]
