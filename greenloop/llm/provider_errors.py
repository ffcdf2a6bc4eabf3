"""Classification of providers' errors: retries, messages, and features that a server refuses."""

import re
from collections.abc import Collection
from typing import Literal

from langchain_core import exceptions as core

from greenloop.errors import GreenloopError, ModelFailure, ModelRefusedError, ModelUnavailableError
from greenloop.llm.budget import UNPRICED_PROVIDER

_SECRET = re.compile(
    r"""\b(sk|pk|rk|gsk|xai|key|ls|hf|gh[a-z]|glpat)[-_][\w*.-]{6,}
      | \bAIza[\w-]{10,} | \beyJ[\w-]+\.[\w.-]+          # Google's keys, signed tokens
      | (?<=bearer\ )\S+ | (?<=basic\ )\S+
      | (?<=key=)[^&\s]+ | (?<=token=)[^&\s]+ | (?<=://)[^/\s@]+(?=@)
      | \b(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{32,}\b            # long, with digits""",
    re.IGNORECASE | re.VERBOSE,
)

_REFUSALS = {
    core.ModelAuthenticationError: "the key was refused; check it",
    core.ModelPermissionDeniedError: "the key may not use this model",
    core.ModelNotFoundError: "the provider knows no such model",
}
_NO_ANSWER = (ValueError, TypeError)  # for a body that is no answer: an HTML page, null choices
_BUSY = re.compile(r"\b(429|5\d\d|overloaded|rate.?limit|busy|timeout)\b", re.IGNORECASE)
_ONLY_STATUS = re.compile(r"Error code: \d+")
_ADDRESS_HINT = "; check OPENAI_BASE_URL, which for most servers ends in /v1"
Feature = Literal["stream_options", "stream", "system", "temperature"]
# Tried in this order: a message about `stream_options` may name `stream`, too.
_SAID: tuple[tuple[Feature, re.Pattern[str]], ...] = (
    ("stream_options", re.compile(r"stream_options|include_usage", re.IGNORECASE)),
    ("temperature", re.compile(r"temperature", re.IGNORECASE)),
    (
        "system",
        re.compile(
            r"\bsystem\b.{0,40}\b(role|message|prompt)|\brole.{0,60}\bsystem\b"
            r"|\broles must alternate\b",  # the template of a model that knows no such role
            re.IGNORECASE,
        ),
    ),
    (
        "stream",
        re.compile(r"\bstream(ing|ed)?\b|No generation chunks were returned", re.IGNORECASE),
    ),
)
_REFUSING_STATUSES = (400, 404, 405, 415, 422, 500, 501)


def is_transient(error: BaseException) -> bool:
    """Return whether a retry may succeed: rate limit, server error, timeout, lost connection."""
    if isinstance(error, GreenloopError) or _has_no_quota(error):
        return False
    if find_error_body(error):
        return bool(_BUSY.search(str(error)))
    # Most packages have `status_code`, Google's has `code`.
    codes = (getattr(error, name, None) for name in ("status_code", "code"))
    status = next((item for item in codes if isinstance(item, int)), None)
    if status is not None:
        return status in (408, 409, 425, 429) or status >= 500
    if isinstance(error, core.ModelError):
        return bool(error.is_retryable)
    if isinstance(error, (ConnectionError, TimeoutError)):
        return True
    # httpx and its successor share class names but no base class. A body that is no answer (an
    # HTML page of a proxy, null choices) raises ValueError or TypeError; an APIError without a
    # status comes from the middle of a stream.
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & {"TransportError", "APIConnectionError", "APIError"}) or isinstance(
        error, _NO_ANSWER
    )


def _has_no_quota(error: BaseException) -> bool:
    return "insufficient_quota" in _get_text(error) + str(getattr(error, "code", ""))


def _get_text(error: BaseException) -> str:
    """Return an error's message; the server's body is added to a bare status."""
    text, body = str(error), getattr(error, "body", None)
    return f"{text} - {body}" if body and _ONLY_STATUS.fullmatch(text) else text


def find_error_body(error: BaseException) -> str:
    """Return the message of an error that a server sent with status 200; '' for other errors."""
    body = error.args[0] if isinstance(error, ValueError) and error.args else None
    if not isinstance(body, dict):
        return ""
    return " ".join(str(body.get("message") or body).split())


def find_unreachable_address(error: BaseException) -> str:
    """Return the address of a server to which no connection was made; '' for other errors."""
    chain, found = [error], error
    while (cause := found.__cause__ or found.__context__) and cause not in chain:
        chain.append(found := cause)
    failed = (item for item in chain if type(item).__name__ == "ConnectError")  # of httpx
    url = getattr(getattr(next(failed, None), "_request", None), "url", None)
    return f"{url.scheme}://{url.netloc.decode()}" if url is not None else ""


def has_wrong_address(error: BaseException) -> bool:
    """Return whether no server was reached, or its response is not that of a model."""
    is_none = isinstance(error, _NO_ANSWER) and not find_error_body(error)
    return is_none or bool(find_unreachable_address(error))


def retry_after(error: BaseException) -> float | None:
    """Return the seconds to wait by the Retry-After header, at most 60; None without one."""
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or {}
    try:
        return min(60.0, max(0.0, float(headers.get("retry-after") or "")))
    except (TypeError, ValueError):
        return None


def to_greenloop_error(error: BaseException, model: str) -> GreenloopError:
    """Convert an error that remains after retries; its message is one line without secrets."""
    if isinstance(error, GreenloopError):
        return error
    summary = summarize_error(error)
    hint = _ADDRESS_HINT if model.startswith(f"{UNPRICED_PROVIDER}:") else ""
    for kind, why in _REFUSALS.items():
        if isinstance(error, kind):
            hint = hint if kind is core.ModelNotFoundError else ""
            return ModelRefusedError(f"{model}: {why} ({summary}){hint}")
    if _has_no_quota(error):
        return ModelRefusedError(f"{model}: the account has no quota left ({summary})")
    if address := find_unreachable_address(error):
        return ModelUnavailableError(
            f"{model}: {address} is not reachable; check that the server runs, and its address"
        )
    if said := find_error_body(error):
        return ModelRefusedError(f"{model}: the server says: {_SECRET.sub('***', said)[:300]}")
    if isinstance(error, _NO_ANSWER):
        return ModelUnavailableError(
            f"{model}: the server does not send an answer of a model; all retries failed "
            f"({summary}){hint}"
        )
    if is_transient(error):
        return ModelUnavailableError(
            f"{model}: not reachable or overloaded, all retries failed ({summary})"
        )
    if isinstance(error, core.ModelError):
        return ModelRefusedError(f"{model}: the request was refused ({summary})")
    return ModelFailure(f"{model}: {summary}")


def summarize_error(error: BaseException) -> str:
    """Return an error's message in one line of at most 300 characters, secrets masked."""
    text = " ".join(_get_text(error).split()) or "no message"
    hint = "; GREENLOOP_MODEL_TIMEOUT is the limit" if "Timeout" in type(error).__name__ else ""
    return f"{type(error).__name__}: {_SECRET.sub('***', text)[:300]}{hint}"


def find_refused_feature(error: BaseException, left_out: Collection[str]) -> Feature | None:
    """Return the feature that an error refuses and that was not left out already."""
    status = getattr(error, "status_code", None)
    if status not in _REFUSING_STATUSES and not isinstance(error, ValueError):
        return None
    text = _get_text(error)
    for name, pattern in _SAID:
        if pattern.search(text):
            return None if name in left_out else name
    return None
