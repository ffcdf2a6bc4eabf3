"""What a change is expected to cost, from the sizes of what its prompts will show."""

from __future__ import annotations

from pathlib import Path

from greenloop.llm.budget import estimate_tokens
from greenloop.llm.response_log import TokenCount
from greenloop.project.code_map import build_code_map
from greenloop.project.tree import read_tree
from greenloop.workflow.change.shown_files import MAX_FILES_CHARS
from greenloop.workflow.change.strategy import MAP_TOKENS
from greenloop.workflow.make.estimate import format_estimate
from greenloop.workflow.storage.request import ChangeRequest

# Characters of the rules, the contract, tests and style files in the prompts of four calls.
_FIXED_CHARS = 44_000
_ANSWER_TOKENS = 4_500  # of all calls
_REPAIR_SHARE = 0.5  # of one call that repairs, in the tokens of all others
_MIN_CALLS = 4
_MAX_REPAIR_CALLS = 3


def estimate_change(request: ChangeRequest, model: str | None) -> str:
    """Return the expected calls, tokens and cost in one line. Raises InputError."""
    texts = read_tree(Path(request.root)).texts
    code_map = build_code_map(texts, request.task, MAP_TOKENS)
    shown = min(sum(map(len, texts.values())), MAX_FILES_CHARS)  # in the plan, and for the code
    asked = estimate_tokens(_FIXED_CHARS + len(code_map) + 2 * shown + 4 * len(request.task))
    calls = _MIN_CALLS - bool(request.given) - (not texts)
    tokens = TokenCount(input_tokens=asked, output_tokens=_ANSWER_TOKENS)
    return format_estimate(
        calls, _MAX_REPAIR_CALLS, tokens, 1 + _MAX_REPAIR_CALLS * _REPAIR_SHARE, model
    )
