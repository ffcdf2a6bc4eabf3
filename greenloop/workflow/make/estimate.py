"""Estimate of a run's calls, tokens and cost from the size of its text, without a model."""

from greenloop.llm.budget import TokenCount, calculate_cost
from greenloop.settings import Settings
from greenloop.workflow.kind import Estimate
from greenloop.workflow.make.request import MakeRequest

# Fitted to the recorded examples: base of all calls in tokens, and tokens per character of text.
_ASKED_TOKENS, _ASKED_PER_CHAR = 1_500, 11
_ANSWERED_TOKENS, _ANSWERED_PER_CHAR = 1_500, 7
_FIRST_CALLS = 4  # contract, code, tests, review
_MAX_FURTHER_CALLS = 5  # contract again, more tests, repair, judge
_PEER_SHARE = 0.2  # of the tokens of the other calls


def estimate_make(request: MakeRequest, settings: Settings) -> Estimate:
    """Return the expected calls, tokens and cost."""
    chars = len(request.task) + sum(len(item.code) for item in request.given)
    share = 1 + _PEER_SHARE * settings.peer
    count = TokenCount(
        input_tokens=int(share * (_ASKED_TOKENS + _ASKED_PER_CHAR * chars)),
        output_tokens=int(share * (_ANSWERED_TOKENS + _ANSWERED_PER_CHAR * chars)),
    )
    calls = _FIRST_CALLS + settings.peer
    return build_estimate(calls, _MAX_FURTHER_CALLS, count, 2.0, settings.model)


def build_estimate(
    calls: int, further: int, tokens: TokenCount, growth: float, model: str | None
) -> Estimate:
    """Return the estimate of a run; `growth` is the factor for tokens with all further calls."""
    return Estimate(
        model=model,
        calls=calls,
        max_calls=calls + further,
        tokens=round(tokens.total, -2),
        max_tokens=round(int(tokens.total * growth), -3),
        cost_usd=calculate_cost(model, tokens) if model else None,
    )
