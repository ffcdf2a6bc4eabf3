"""Token and cost budget, checked before each model call, and the usage by tool."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

from greenloop.errors import BudgetExhaustedError, SettingsError
from greenloop.records import Record, ToolUsage, Usage
from greenloop.versions import format_install_command

UNPRICED_PROVIDER = "openai-compatible"
_CHARACTERS_PER_TOKEN = 4  # rule of thumb for English; estimates code slightly high
_MAX_CHARACTERS_PER_TOKEN = 7  # reached by code with much white space
_CUT_PROMPT = (
    "the server read {read:,} of about {sent:,} tokens of the prompt: its context is too short. Start "
    "Ollama with OLLAMA_CONTEXT_LENGTH=32768, or use --model ollama:NAME, which "
    "needs `{install}`"
)


class TokenCount(Record, extra="ignore"):
    """Tokens of one call as counted by the provider."""

    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens


def estimate_tokens(characters: int) -> int:
    """Estimate the tokens of a text that the provider has not counted."""
    return -(-characters // _CHARACTERS_PER_TOKEN)


def describe_cut(characters: int, tokens: int) -> str:
    """Return a notice if a server counted far fewer tokens than the prompt has; "" otherwise."""
    if not 0 < tokens < characters / _MAX_CHARACTERS_PER_TOKEN:
        return ""
    return _CUT_PROMPT.format(
        read=tokens,
        sent=estimate_tokens(characters),
        install=format_install_command("ollama"),
    )


def calculate_cost(model: str, usage: TokenCount) -> float | None:
    """Return the US dollars of one call; None where no price is known."""
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    provider, _, name = model.partition(":") if ":" in model else ("", "", model)
    if provider == UNPRICED_PROVIDER:  # the price list matches provider names by prefix
        return None
    counted = Counted(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
    try:
        found = calc_price(counted, model_ref=name, provider_id=provider or None)
    except (LookupError, ValueError):
        return None
    return float(found.total_price)


@dataclass
class Budget:
    """Usage so far, and its limits (None: no limit)."""

    max_tokens: int | None = None
    max_cost: float | None = None
    by_tool: dict[str, ToolUsage] = field(default_factory=dict)
    model_s: float = 0.0
    parent: "Budget | None" = None  # shared by several runs
    _reserved_tokens: int = 0
    _known_cost: float = 0.0  # of the calls with a known price
    _reserved_cost: float = 0.0

    @property
    def tokens(self) -> int:
        """Input and output tokens so far."""
        return sum(item.input_tokens + item.output_tokens for item in self.by_tool.values())

    @property
    def calls(self) -> int:
        """Answered calls so far."""
        return sum(item.calls for item in self.by_tool.values())

    @property
    def cost(self) -> float | None:
        """US dollars so far; None before the first call, or where a call has no known price."""
        costs = [item.cost_usd for item in self.by_tool.values()]
        known = [item for item in costs if item is not None]
        return sum(known) if known and len(known) == len(costs) else None

    @contextmanager
    def reserve(self, tool: str, characters: int, model: str | None) -> Iterator[None]:
        """Check the budget for one call and reserve its tokens and cost while it is made.

        `model` is None for a recorded answer, which costs nothing.

        Raises:
            BudgetExhaustedError: the call would exceed a limit.
            SettingsError: a cost limit is set, and the model's price is not known.
        """
        with self.parent.reserve(tool, characters, model) if self.parent else nullcontext():
            tokens = estimate_tokens(characters)
            self._check_tokens(tool, tokens)
            cost = self._check_cost(tool, tokens, model)
            self._reserved_tokens += tokens
            self._reserved_cost += cost
            try:
                yield
            finally:
                self._reserved_tokens -= tokens
                self._reserved_cost -= cost

    def _check_tokens(self, tool: str, tokens: int) -> None:
        needed = self.tokens + self._reserved_tokens + tokens
        if self.max_tokens is not None and needed > self.max_tokens:
            raise BudgetExhaustedError(
                f"budget: {self.tokens} tokens used, the next call ({tool}) needs about {tokens} "
                f"more, the limit is {self.max_tokens} (--max-tokens)"
            )

    def _check_cost(self, tool: str, tokens: int, model: str | None) -> float:
        if self.max_cost is None or model is None:
            return 0.0
        next_call = calculate_cost(model, TokenCount(input_tokens=tokens))
        if next_call is None:
            raise SettingsError(
                f"--max-cost cannot be enforced: no price is known for {model}; use --max-tokens"
            )
        if self._known_cost + self._reserved_cost + next_call > self.max_cost:
            raise BudgetExhaustedError(
                f"budget: ${self._known_cost:.4f} spent, the next call ({tool}) costs at least "
                f"${next_call:.4f}, the limit is ${self.max_cost} (--max-cost)"
            )
        return next_call

    def add(self, tool: str, model: str, usage: TokenCount, seconds: float) -> float | None:
        """Add one answered call; return its US dollars, None where no price is known."""
        cost = calculate_cost(model, usage)
        tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        self.add_call(tool, ToolUsage(calls=1, cost_usd=cost, **tokens), seconds)
        return cost

    def add_call(self, tool: str, call: ToolUsage, seconds: float) -> None:
        """Add the usage of one answered call."""
        if self.parent is not None:
            self.parent.add_call(tool, call, seconds)
        self._known_cost += call.cost_usd or 0.0
        before = self.by_tool.get(tool)
        self.by_tool[tool] = _combine_usage(before, call, 1) if before else call
        self.model_s += seconds

    def subtract(self, other: "Budget") -> None:
        """Subtract the usage of `other`, a child of this budget whose run is restarted.

        The restarted run adds its logged answers again as it uses them.
        """
        for tool, usage in other.by_tool.items():
            self.by_tool[tool] = _combine_usage(self.by_tool[tool], usage, -1)
            if not self.by_tool[tool].calls:
                del self.by_tool[tool]
        self._known_cost -= other._known_cost
        self.model_s -= other.model_s

    def to_usage(self) -> Usage:
        """Return the totals for the report."""
        tools = self.by_tool.values()
        return Usage(
            calls=self.calls,
            input_tokens=sum(item.input_tokens for item in tools),
            output_tokens=sum(item.output_tokens for item in tools),
            cost_usd=self.cost,
            by_tool=dict(sorted(self.by_tool.items())),
        )


def _combine_usage(first: ToolUsage, second: ToolUsage, sign: int) -> ToolUsage:
    """Return the sum (`sign` 1) or the difference (-1); without both costs its cost is None."""
    is_known = first.cost_usd is not None and second.cost_usd is not None
    return ToolUsage(
        calls=first.calls + sign * second.calls,
        input_tokens=first.input_tokens + sign * second.input_tokens,
        output_tokens=first.output_tokens + sign * second.output_tokens,
        cost_usd=(first.cost_usd or 0.0) + sign * (second.cost_usd or 0.0) if is_known else None,
    )
