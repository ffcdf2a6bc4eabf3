"""Classification and messages of providers' errors."""

from types import SimpleNamespace

import httpx
import openai
import pytest
from langchain_core import exceptions as core

from greenloop.errors import (
    BudgetExhaustedError,
    GreenloopError,
    ModelFailure,
    ModelRefusedError,
    ModelUnavailableError,
)
from greenloop.llm.provider_errors import (
    is_transient,
    retry_after,
    summarize_error,
    to_greenloop_error,
)
from tests.support.programs import read_table


class Faulty(Exception):
    """Error of a provider, with an optional status and headers."""

    def __init__(self, said: str = "", **attributes: object) -> None:
        super().__init__(said)
        self.__dict__.update(attributes)


class APIError(Exception):
    """The base class of several providers has this name."""


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
@pytest.mark.parametrize("name", ["status_code", "code"])
def test_transient_statuses(status: int, name: str) -> None:
    assert is_transient(Faulty(**{name: status}))


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
@pytest.mark.parametrize("name", ["status_code", "code"])
def test_permanent_statuses(status: int, name: str) -> None:
    assert not is_transient(Faulty(**{name: status}))


@pytest.mark.parametrize(
    "error",
    [
        core.ModelRateLimitError("x"),
        core.ModelAPIError("x"),
        core.ModelTimeoutError("x"),
        core.ModelConnectionError("x"),
        ConnectionResetError("x"),
        TimeoutError("x"),
        httpx.ConnectError("x"),
        httpx.ReadTimeout("x"),
        httpx.RemoteProtocolError("x"),
        openai.APIConnectionError(request=SimpleNamespace()),  # type: ignore[arg-type]
        openai.APIError("overloaded, said in mid-stream", SimpleNamespace(), body=None),  # type: ignore[arg-type]
        ValueError("an HTML page is no JSON"),
        TypeError("'NoneType' object is not iterable"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_transient_errors(error: Exception) -> None:
    assert is_transient(error)
    assert isinstance(to_greenloop_error(error, "openai:x"), ModelUnavailableError)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (core.ModelAuthenticationError("x"), "the key was refused"),
        (core.ModelPermissionDeniedError("x"), "the key may not use this model"),
        (core.ModelNotFoundError("x"), "the provider knows no such model"),
        (core.ModelInvalidRequestError("x"), "the request was refused"),
        (Faulty("{'code': 'insufficient_quota'}", status_code=429), "no quota left"),
        (core.ModelRateLimitError("code: insufficient_quota"), "no quota left"),
    ],
)
def test_permanent_error_names_the_remedy(error: Exception, said: str) -> None:
    assert not is_transient(error)
    failure = to_greenloop_error(error, "openai:x")
    assert isinstance(failure, ModelRefusedError)
    assert str(failure).startswith(
        f"openai:x: {'the account has ' if 'quota' in said else ''}{said}"
    )


@pytest.mark.parametrize(
    "error", [ValueError("an HTML page"), core.ModelNotFoundError("Not Found")]
)
def test_server_without_the_api_is_told_from_one_that_is_down(error: Exception) -> None:
    own = str(to_greenloop_error(error, "openai-compatible:x"))
    assert own.endswith("; check OPENAI_BASE_URL, which for most servers ends in /v1")
    others = str(to_greenloop_error(error, "openai:x"))
    assert "OPENAI_BASE_URL" not in others
    assert "not reachable" not in own + others


@pytest.mark.parametrize("error", [AssertionError("x"), OSError("x"), Faulty("x", status_code=401)])
def test_unknown_error_is_a_model_failure(error: Exception) -> None:
    assert not is_transient(error)
    failure = to_greenloop_error(error, "openai:x")
    assert type(failure) is ModelFailure
    assert str(failure) == f"openai:x: {type(error).__name__}: x"


def test_greenloop_errors_are_permanent_and_unchanged() -> None:
    error: GreenloopError = BudgetExhaustedError("budget")
    assert not is_transient(error)
    assert to_greenloop_error(error, "openai:x") is error


@pytest.mark.parametrize(("headers", "seconds"), read_table(__file__, "RETRY_AFTER"))
def test_retry_after_is_read_from_the_headers(
    headers: dict[str, str], seconds: float | None
) -> None:
    response = SimpleNamespace(headers=httpx.Headers(headers))
    assert retry_after(Faulty(response=response)) == seconds


def test_retry_after_of_an_error_without_a_response_is_unknown() -> None:
    assert retry_after(ValueError("x")) is None


@pytest.mark.parametrize(("text", "secret"), read_table(__file__, "SECRETS_MASKED"))
def test_secrets_are_masked_in_messages(text: str, secret: str) -> None:
    said = str(to_greenloop_error(core.ModelAuthenticationError(text), "openai:x"))
    assert secret not in said
    assert "***" in said


@pytest.mark.parametrize(
    "text",
    [
        "The model `gpt-5.4-mini` does not exist",
        "meta-llama/Llama-3.3-70B-Instruct is overloaded",
        "ChatCompletionMessageFunctionToolCallParam is unexpected",
        "maximum context length is 128000 tokens",
    ],
)
def test_ordinary_message_is_unchanged(text: str) -> None:
    assert summarize_error(ValueError(text)) == f"ValueError: {text}"


def test_message_is_one_short_line() -> None:
    said = summarize_error(ValueError("a\n\n  b\t" + "c " * 1000))
    assert said.startswith("ValueError: a b c c")
    assert "\n" not in said
    assert len(said) <= 320


def test_error_without_message_is_described() -> None:
    assert summarize_error(TimeoutError()) == (
        "TimeoutError: no message; GREENLOOP_MODEL_TIMEOUT is the limit"
    )
