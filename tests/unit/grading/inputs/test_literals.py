"""Changed literals and growing arguments, from which a second implementation gets its inputs."""

import ast
import random
import re

from greenloop.grading.inputs.growth import grow_calls
from greenloop.grading.inputs.literals import LiteralMutator, Vocabulary


def _mutate(
    call: str, count: int = 300, varies_types: bool = False, **vocabulary: tuple[int, ...]
) -> list[str]:
    mutator = LiteralMutator(random.Random(1), Vocabulary(**vocabulary))
    mutator.varies_types = varies_types
    tree = ast.parse(call, mode="eval").body
    return [ast.unparse(mutator.mutate(tree)) for _ in range(count)]


def test_numbers_in_a_text_become_those_of_the_vocabulary() -> None:
    changed = _mutate("f('10.0.0.7')", numbers=(255,))
    assert {"256", "254"} <= set(re.findall(r"\d+", " ".join(changed)))


def test_texts_are_not_ascii_only() -> None:
    assert any(not item.isascii() for item in _mutate("f('abc')"))


def test_lists_become_sorted_and_of_one_value() -> None:
    changed = set(_mutate("f([3, 1, 2])"))
    assert {"f([1, 2, 3])", "f([2, 1, 3])", "f([3, 3, 3])", "f([1, 1, 1])"} <= changed
    assert "f(['a', 'b'])" in set(_mutate("f(['b', 'a'])"))


def test_one_character_is_repeated_at_the_beginning() -> None:
    assert "f('    a')" in set(_mutate("f(' a')", 2000))


def test_one_number_becomes_the_sum_of_two() -> None:
    assert any("f(70, 900, 970)" in item for item in _mutate("f(70, 900, 3)", 2000))


def test_other_types_are_tried_where_none_is_named_alone() -> None:
    open_types = " ".join(_mutate("f([3, 8], 5)", 500, varies_types=True))
    for other in ("3.5", "None", "''"):
        assert other in open_types
    assert not re.search(r"[.TN']", " ".join(_mutate("f([3, 8], 5)", 500)))


def test_most_changes_are_changes() -> None:
    for call in ("f('a b c')", "f([1, 2, 3], 5)", "f({'a': 1})"):
        assert _mutate(call).count(call) < 60


def test_a_text_of_words_grows_by_words() -> None:
    grown = [ast.literal_eval(call.args[0]) for call in grow_calls([_call("f('o, o|, .|')")])]
    assert grown[0] == "o, o|, .|, o"
    assert len(grown[-1].split(", ")) > 200


def test_numbers_lists_and_single_words_grow() -> None:
    sizes = [len(call.args[0].elts) for call in grow_calls([_call("f([1, 5])")])]  # type: ignore[attr-defined]
    assert sizes[:4] == [4, 5, 6, 7]
    assert sizes[-1] > 1000  # beyond which Python calls no deeper
    assert ast.unparse(next(grow_calls([_call("f('ab', None)")]))) == "f('abab', None)"
    assert [ast.unparse(i) for i in grow_calls([_call("f(1)"), _call("f(2)")])][:2] == [
        "f(4)",
        "f(6)",
    ]


def _call(text: str) -> ast.Call:
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call)
    return node
