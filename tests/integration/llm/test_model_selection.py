"""Selection of the model by settings and available servers."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from greenloop.errors import NoModelError
from greenloop.llm.model_selection import ModelChoice, choose_model, list_ollama_models, select_best
from greenloop.settings import Settings
from tests.support.openai_server import OpenAIServer, Reply
from tests.support.programs import read_table

DEFAULT = "gpt-5.4-mini"
NOWHERE = "http://127.0.0.1:9"


def serving(*models: str) -> OpenAIServer:
    return OpenAIServer(lambda _request: Reply(), models)


def root(server: OpenAIServer) -> str:
    return server.url.removesuffix("/v1")


def chosen(**flags: str) -> ModelChoice:
    return choose_model(Settings.load(**{"ollama_host": NOWHERE, **flags}))


@pytest.fixture
def garbage() -> Iterator[str]:
    """Serve a reply that is not HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join(5)


class TestPrecedence:
    def test_configured_model_is_used_without_a_request(self) -> None:
        everything = {"openai_base_url": NOWHERE, "openai_api_key": "sk-x"}
        assert chosen(model="ollama:x", **everything) == ModelChoice("ollama:x")

    def test_server_precedes_the_default_of_the_key(self) -> None:
        with serving("local-a", "qwen3-coder:30b") as server:
            choice = chosen(openai_base_url=server.url, openai_api_key="sk-x")
        assert (choice.name, choice.base_url) == ("openai:qwen3-coder:30b", server.url)
        assert "OPENAI_BASE_URL" in choice.reason

    def test_key_precedes_a_local_server(self) -> None:
        with serving("qwen3-coder") as server:
            choice = chosen(openai_api_key="sk-x", ollama_host=root(server))
        assert (choice.name, choice.base_url) == (f"openai:{DEFAULT}", None)
        assert "OPENAI_API_KEY" in choice.reason

    def test_running_ollama_is_used_without_configuration(self) -> None:
        with serving("nomic-embed-text", "llama3.2:3b", "qwen2.5-coder:7b") as server:
            choice = chosen(ollama_host=root(server))
            assert (choice.name, choice.base_url) == ("openai:qwen2.5-coder:7b", server.url)
            assert "Ollama" in choice.reason

    def test_environment_and_env_file_are_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / ".env").write_text("GREENLOOP_MODEL=openai:from-file\n")
        assert chosen().name == "openai:from-file"
        monkeypatch.setenv("GREENLOOP_MODEL", "openai:from-environment")
        assert chosen().name == "openai:from-environment"
        assert chosen(model="openai:from-flag").name == "openai:from-flag"

    def test_error_without_a_model_lists_the_options(self) -> None:
        with pytest.raises(NoModelError) as caught:
            chosen()
        for way in ("--model", "GREENLOOP_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "Ollama"):
            assert way in str(caught.value)
        assert "--model replay:" in str(caught.value)

    def test_ollama_with_embedding_models_only_is_not_used(self) -> None:
        with serving("nomic-embed-text") as server, pytest.raises(NoModelError):
            chosen(ollama_host=root(server))


class TestServed:
    def test_default_is_used_where_the_server_lists_it(self) -> None:
        with serving("qwen3-coder", DEFAULT) as server:
            assert chosen(openai_base_url=server.url + "/").name == f"openai:{DEFAULT}"

    @pytest.mark.parametrize("url", [NOWHERE, "ftp://127.0.0.1/v1", "http://127.0.0.1:port/v1"])
    def test_default_is_used_where_the_server_lists_nothing(self, url: str) -> None:
        assert chosen(openai_base_url=url) == ModelChoice(
            f"openai:{DEFAULT}", url, "OPENAI_BASE_URL is set"
        )

    def test_server_without_http_lists_nothing(self, garbage: str) -> None:
        assert chosen(openai_base_url=garbage).name == f"openai:{DEFAULT}"

    def test_server_without_a_chat_model_is_an_error(self) -> None:
        with serving("text-embed-1") as server, pytest.raises(NoModelError, match="text-embed-1"):
            chosen(openai_base_url=server.url)


class TestOllama:
    @pytest.mark.parametrize("form", ["http://{}", "http://{}/", "{}", "{}/"])
    def test_address_with_or_without_scheme(self, form: str) -> None:
        with serving("llama3") as server:
            host = form.format(root(server).removeprefix("http://"))
            assert chosen(ollama_host=host).base_url == server.url

    def test_its_own_api_is_used_where_its_package_is_installed(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("greenloop.llm.model_selection.find_spec", lambda name: name)
        with serving("llama3") as server:
            choice = chosen(ollama_host=root(server))
            assert (choice.name, choice.base_url) == ("ollama:llama3", root(server))

    def test_default_port_is_added(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[str] = []

        def models(host: str) -> list[str]:
            asked.append(host)
            return ["llama3"]

        monkeypatch.setattr("greenloop.llm.model_selection.list_ollama_models", models)
        assert chosen(ollama_host="127.0.0.1").base_url == "http://127.0.0.1:11434/v1"
        assert asked == ["http://127.0.0.1:11434"]

    @pytest.mark.parametrize("host", [NOWHERE, "http://127.0.0.1:x", "file:///etc"])
    def test_no_server_offers_no_model(self, host: str) -> None:
        assert list_ollama_models(host) == []

    def test_models_of_the_server_are_listed(self) -> None:
        with serving("a", "b") as server:
            assert list_ollama_models(root(server)) == ["a", "b"]


@pytest.mark.parametrize(("names", "best"), read_table(__file__, "PREFERRED"))
def test_code_models_are_preferred_then_the_first_listed(
    names: list[str], best: str | None
) -> None:
    assert select_best(names) == best
