"""Estimate of the calls, tokens and cost of a change."""

from pathlib import Path

from greenloop.llm.budget import TokenCount, estimate_tokens
from greenloop.project.code_map import build_code_map
from greenloop.project.tree import read_tree
from greenloop.settings import Settings
from greenloop.workflow.change.request import ChangeRequest
from greenloop.workflow.change.shown.files import MAX_FILES_CHARS
from greenloop.workflow.change.strategy import MAP_TOKENS, MAX_TOUCHED_CHARS
from greenloop.workflow.kind import Estimate
from greenloop.workflow.make.estimate import build_estimate

# Characters of rules, contract, tests and style files: in the prompts of four calls, and in the
# prompt of the second implementation.
_FIXED_CHARS, _PEER_CHARS = 44_000, 5_000
_ANSWER_TOKENS, _PEER_TOKENS = 4_500, 1_200
# Tokens of one repair call, and of the call that confirms background, as shares of all others.
_REPAIR_SHARE, _CONFIRM_SHARE = 0.5, 0.1
_MIN_CALLS = 4
_MAX_REPAIR_CALLS = 3


def estimate_change(request: ChangeRequest, settings: Settings) -> Estimate:
    """Return the expected calls, tokens and cost. Raises InputError."""
    texts = read_tree(Path(request.root)).texts
    code_map = build_code_map(texts, request.task, MAP_TOKENS)
    whole = sum(map(len, texts.values()))
    touched = min(whole, MAX_TOUCHED_CHARS)
    shown = min(whole, MAX_FILES_CHARS) + touched  # for the plan and for the code
    is_read_twice = settings.peer
    calls = _MIN_CALLS - bool(request.given) - (not texts) + is_read_twice
    answered = _ANSWER_TOKENS
    if is_read_twice:
        shown, answered = shown + _PEER_CHARS + touched, answered + _PEER_TOKENS
    asked = estimate_tokens(_FIXED_CHARS + len(code_map) + shown + calls * len(request.task))
    tokens = TokenCount(input_tokens=asked, output_tokens=answered)
    most = 1 + _MAX_REPAIR_CALLS * _REPAIR_SHARE + _CONFIRM_SHARE
    return build_estimate(calls, _MAX_REPAIR_CALLS + 1, tokens, most, settings.model)
