"""Which faults of a provider may pass, and what a person is told of those that do not."""

from __future__ import annotations

import re

from langchain_core import exceptions as core

from greenloop.errors import GreenloopError, ModelFailure, ModelRefusedError, ModelUnavailableError

_SECRET = re.compile(
    r"""\b(sk|pk|rk|gsk|xai|key|ls|hf|gh[a-z]|glpat)[-_][\w*.-]{6,}
      | \bAIza[\w-]{10,} | \beyJ[\w-]+\.[\w.-]+          # Google's keys, signed tokens
      | (?<=bearer\ )\S+ | (?<=basic\ )\S+
      | (?<=key=)[^&\s]+ | (?<=token=)[^&\s]+ | (?<=://)[^/\s@]+(?=@)
      | \b(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{32,}\b            # long, with digits: no word""",
    re.IGNORECASE | re.VERBOSE,
)


def is_transient(error: BaseException) -> bool:
    """Whether the same call may succeed later: rate limits, server errors, time-outs, lost links."""
    if isinstance(error, GreenloopError) or "insufficient_quota" in str(error):
        return False
    status = _http_status(error)
    if status is not None:
        return status in (408, 409, 425, 429) or status >= 500
    if isinstance(error, core.ModelError):
        return bool(error.is_retryable)
    if isinstance(error, (ConnectionError, TimeoutError)):
        return True
    # httpx and its successor share names but no base class; a body that is no answer (an HTML
    # page from a proxy, null choices) reaches us as ValueError or TypeError; an APIError without
    # a status is one that came in the middle of a stream.
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & {"TransportError", "APIConnectionError", "APIError"}) or isinstance(
        error, (ValueError, TypeError)
    )


def _http_status(error: BaseException) -> int | None:
    """The HTTP status: `status_code` for most packages, `code` for Google's."""
    found = (getattr(error, name, None) for name in ("status_code", "code"))
    return next((item for item in found if isinstance(item, int)), None)


def retry_after(error: BaseException) -> float | None:
    """Seconds that the provider asked to wait, at most a minute; None where it did not say."""
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or {}
    try:
        return min(60.0, max(0.0, float(headers.get("retry-after") or "")))
    except (TypeError, ValueError):
        return None


def to_greenloop_error(error: BaseException, model: str) -> GreenloopError:
    """The greenloop error for a fault that stays, in one line without a secret."""
    if isinstance(error, GreenloopError):
        return error
    said = summarize_error(error)
    if isinstance(error, core.ModelAuthenticationError):
        return ModelRefusedError(f"{model}: the key was refused; check it ({said})")
    if isinstance(error, core.ModelPermissionDeniedError):
        return ModelRefusedError(f"{model}: the key may not use this model ({said})")
    if isinstance(error, core.ModelNotFoundError):
        return ModelRefusedError(f"{model}: the provider knows no such model ({said})")
    if "insufficient_quota" in str(error):
        return ModelRefusedError(f"{model}: the account has no quota left ({said})")
    if is_transient(error):
        return ModelUnavailableError(
            f"{model}: not reachable or overloaded, tried again in vain ({said})"
        )
    if isinstance(error, core.ModelError):
        return ModelRefusedError(f"{model}: the request was refused ({said})")
    return ModelFailure(f"{model}: {said}")


def summarize_error(error: BaseException) -> str:
    """What an error says, in one line of at most 300 characters, anything like a key masked."""
    text = " ".join(str(error).split()) or "no message"
    return f"{type(error).__name__}: {_SECRET.sub('***', text)[:300]}"
