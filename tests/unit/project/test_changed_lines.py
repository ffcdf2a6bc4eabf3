"""Lines of functions that a change leaves as they were."""

import pytest

from greenloop.project.changed_lines import find_untouched_lines


@pytest.mark.parametrize(
    ("before", "after", "untouched"),
    [
        ("def f(x): return x + 1\n", "def f(x): return x + 2\n", set()),
        ("def f(x): return x + 1\n", "def f(x: int): return x + 1\n", {1}),
        ("def f(x):\n    return x + 1\n", "def f(x):\n    return x + 2\n", {1}),
        ("def f(\n    x,\n): return x\n", "def f(\n    x,\n): return -x\n", {1, 2}),
        ("def f(x): return x\n", "\n\ndef f(x): return x\n", {3}),
    ],
    ids=["body", "annotation", "body below", "body on the last line", "moved"],
)
def test_a_function_is_untouched_where_head_and_body_are(
    before: str, after: str, untouched: set[int]
) -> None:
    assert find_untouched_lines(before, after) == untouched
