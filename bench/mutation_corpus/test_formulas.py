import pytest
from formulas import FormulaError, tokens, value_of


def test_tokens():
    assert tokens("a1 + .5**_b") == [
        ("name", "a1", 0),
        ("sign", "+", 3),
        ("number", ".5", 5),
        ("sign", "**", 7),
        ("name", "_b", 9),
        ("end", "", 11),
    ]


def test_sums():
    assert value_of("1 + 2 - 4") == -1


def test_left_to_right():
    assert value_of("8 / 4 / 2") == 1
    assert value_of("10 - 3 - 2") == 5


def test_precedence():
    assert value_of("2 + 3 * 4") == 14
    assert value_of("(2 + 3) * 4") == 20


def test_remainder():
    assert value_of("17 % 5") == 2


def test_signs():
    assert value_of("-3 + +2") == -1
    assert value_of("--3") == 3
    assert value_of("2 * -3") == -6


def test_power():
    assert value_of("2 ** 3 ** 2") == 512
    assert value_of("-2 ** 2") == -4
    assert value_of("2 ** -1") == 0.5


def test_decimals():
    assert value_of("1.5 * 2") == 3
    assert value_of("2.") == 2


def test_names():
    assert value_of("2 * width_1 + h", width_1=3, h=1) == 7


def test_functions():
    assert value_of("max(1, 5, 3)") == 5
    assert value_of("min(4, 2) + sqrt(9)") == 5
    assert value_of("abs(-4)") == 4


def test_nested_calls():
    assert value_of("max(min(1, 2), (3))") == 3


def test_no_spaces_needed():
    assert value_of("1+2*3-4/2") == 5


@pytest.mark.parametrize(
    ("text", "position"),
    [("1 +", 3), ("", 0), ("1 2", 2), ("2 * (3 + 4", 10), ("max(1, 2", 8), ("1 $ 2", 2)],
)
def test_errors_say_where(text, position):
    with pytest.raises(FormulaError) as told:
        value_of(text)
    assert told.value.position == position


def test_error_has_its_position_in_words():
    with pytest.raises(FormulaError, match=r"^unknown name x at 4$"):
        value_of("1 + x")


def test_unknown_function():
    with pytest.raises(FormulaError, match=r"^unknown function f at 1$"):
        value_of(" f(1)")


def test_division_by_zero():
    with pytest.raises(FormulaError, match=r"^division by zero at 4$"):
        value_of("1 / 0")
    with pytest.raises(FormulaError, match="zero"):
        value_of("1 % 0")


@pytest.mark.parametrize("text", ["1.2.3", ".", "1 + ."])
def test_no_number(text):
    with pytest.raises(FormulaError, match="no number"):
        value_of(text)


def test_what_is_left_over():
    with pytest.raises(FormulaError, match=r"^unexpected '\)' at 1$"):
        value_of("1)")


def test_zero_times():
    assert value_of("3 * 0") == 0


def test_a_value_is_missing():
    with pytest.raises(FormulaError, match="a value is missing at 4"):
        value_of("2 * )")
