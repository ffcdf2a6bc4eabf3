"""Usage and budget of model calls."""

from contextlib import ExitStack

import pytest

from greenloop.errors import BudgetExhaustedError, SettingsError
from greenloop.llm.budget import Budget, TokenCount, calculate_cost, estimate_tokens

KNOWN, UNKNOWN = "openai:gpt-4o", "ollama:qwen3-coder:30b"
MILLION = TokenCount(input_tokens=1_000_000)


def reserve(ledger: Budget, characters: int, model: str | None = KNOWN) -> None:
    with ledger.reserve("generate_code", characters, model):
        pass


@pytest.mark.parametrize(("characters", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2), (4000, 1000)])
def test_token_estimate_rounds_up(characters: int, tokens: int) -> None:
    assert estimate_tokens(characters) == tokens


@pytest.mark.parametrize("model", [KNOWN, "gpt-4o", "google_genai:gemini-2.5-pro"])
def test_known_price_grows_with_tokens(model: str) -> None:
    one = calculate_cost(model, TokenCount(input_tokens=1000))
    two = calculate_cost(model, TokenCount(input_tokens=1000, output_tokens=1000))
    assert one is not None
    assert two is not None
    assert 0 < one < two < 1


@pytest.mark.parametrize(
    "model",
    [UNKNOWN, "openai:qwen3-coder:30b", "replay:x.jsonl", "recorded", "nobody:gpt-4o-x", ""],
)
def test_unknown_price_is_none(model: str) -> None:
    assert calculate_cost(model, TokenCount(input_tokens=1000)) is None


def test_tokens_calls_and_cost_are_summed_by_tool() -> None:
    ledger = Budget()
    ledger.add("generate_tests", KNOWN, TokenCount(input_tokens=10, output_tokens=1), 1.0)
    ledger.add("generate_code", KNOWN, TokenCount(input_tokens=20, output_tokens=2), 2.0)
    ledger.add("generate_code", KNOWN, TokenCount(input_tokens=30, output_tokens=3), 4.0)
    usage = ledger.to_usage()
    assert (usage.calls, usage.input_tokens, usage.output_tokens) == (3, 60, 6)
    assert ledger.model_s == 7.0
    assert ledger.tokens == 66
    assert list(usage.by_tool) == ["generate_code", "generate_tests"]
    code = usage.by_tool["generate_code"]
    assert (code.calls, code.input_tokens, code.output_tokens) == (2, 50, 5)
    assert code.cost_usd == pytest.approx(
        calculate_cost(KNOWN, TokenCount(input_tokens=50, output_tokens=5))
    )
    assert usage.cost_usd == pytest.approx(
        calculate_cost(KNOWN, TokenCount(input_tokens=60, output_tokens=6))
    )


@pytest.mark.parametrize("models", [(KNOWN, UNKNOWN), (UNKNOWN, KNOWN), (UNKNOWN, UNKNOWN)])
@pytest.mark.parametrize("tools", [("a", "a"), ("a", "b")])
def test_sum_with_an_unknown_price_is_unknown(
    models: tuple[str, str], tools: tuple[str, str]
) -> None:
    ledger = Budget()
    for tool, model in zip(tools, models, strict=True):
        ledger.add(tool, model, TokenCount(input_tokens=1), 0.0)
    assert ledger.to_usage().cost_usd is None
    assert any(item.cost_usd is None for item in ledger.to_usage().by_tool.values())


def test_cost_before_the_first_call_is_none() -> None:
    usage = Budget().to_usage()
    assert (usage.calls, usage.input_tokens, usage.cost_usd, usage.by_tool) == (0, 0, None, {})


class TestTokenBudget:
    def test_call_that_fits_exactly_is_allowed(self) -> None:
        reserve(Budget(max_tokens=100), 400)

    def test_call_over_the_limit_is_refused(self) -> None:
        with pytest.raises(BudgetExhaustedError, match=r"generate_code.* 101 .*limit is 100"):
            reserve(Budget(max_tokens=100), 401)

    def test_used_tokens_count(self) -> None:
        ledger = Budget(max_tokens=100)
        ledger.add("a", KNOWN, TokenCount(input_tokens=30, output_tokens=30), 0.0)
        reserve(ledger, 160)
        with pytest.raises(BudgetExhaustedError, match="60 tokens used"):
            reserve(ledger, 164)

    def test_concurrent_calls_count(self) -> None:
        ledger = Budget(max_tokens=100)
        with ExitStack() as stack:
            stack.enter_context(ledger.reserve("a", 240, KNOWN))
            stack.enter_context(ledger.reserve("b", 160, KNOWN))
            with pytest.raises(BudgetExhaustedError):
                reserve(ledger, 4)
        reserve(ledger, 400)

    def test_failed_call_releases_its_reservation(self) -> None:
        ledger = Budget(max_tokens=100)
        with pytest.raises(ZeroDivisionError), ledger.reserve("a", 400, KNOWN):
            raise ZeroDivisionError
        reserve(ledger, 400)


class TestCostBudget:
    CHARACTERS = 4_000_000  # a million tokens

    @pytest.fixture
    def cost(self) -> float:
        found = calculate_cost(KNOWN, MILLION)
        assert found is not None
        return found

    def test_call_over_the_cost_limit_is_refused(self, cost: float) -> None:
        reserve(Budget(max_cost=cost), self.CHARACTERS)
        with pytest.raises(BudgetExhaustedError, match="generate_code"):
            reserve(Budget(max_cost=cost * 0.99), self.CHARACTERS)

    def test_spent_cost_counts(self, cost: float) -> None:
        ledger = Budget(max_cost=1.5 * cost)
        ledger.add("a", KNOWN, MILLION, 0.0)
        with pytest.raises(BudgetExhaustedError, match=rf"\${cost:.4f} spent"):
            reserve(ledger, self.CHARACTERS)

    def test_spent_cost_counts_although_another_call_had_no_price(self, cost: float) -> None:
        ledger = Budget(max_cost=1.5 * cost)
        ledger.add("a", KNOWN, MILLION, 0.0)
        ledger.add("a", UNKNOWN, MILLION, 0.0)
        with pytest.raises(BudgetExhaustedError):
            reserve(ledger, self.CHARACTERS)

    def test_concurrent_calls_count(self, cost: float) -> None:
        ledger = Budget(max_cost=2.5 * cost)
        with ExitStack() as stack:
            for _ in range(2):
                stack.enter_context(ledger.reserve("a", self.CHARACTERS, KNOWN))
            with pytest.raises(BudgetExhaustedError):
                reserve(ledger, self.CHARACTERS)
        reserve(ledger, self.CHARACTERS)

    def test_cost_limit_without_known_price_is_refused(self) -> None:
        with pytest.raises(SettingsError, match=r"no price is known for ollama.*--max-tokens"):
            reserve(Budget(max_cost=1.0), 4, UNKNOWN)

    def test_recorded_answer_needs_no_price(self) -> None:
        reserve(Budget(max_cost=1e-9), self.CHARACTERS, None)

    def test_no_price_is_needed_without_a_limit(self) -> None:
        reserve(Budget(), self.CHARACTERS, UNKNOWN)
