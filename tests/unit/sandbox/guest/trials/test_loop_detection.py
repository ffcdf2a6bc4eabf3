"""Which lines decide whether a loop ends."""

from greenloop.sandbox.guest.trials.mutants.loop_detection import find_loop_exit_lines

CODE = """\
def f(items):
    at = 0
    total = 0
    while at < len(items):
        total += items[at]
        if total > 9:
            break
        at += 1
    while items:
        items.pop()
        total -= 1
    return total


def g(text):
    while True:
        text = text[1:]
        if not text:
            return 1
        print(text)
"""


def test_heads_exits_and_what_changes_the_condition_are_named_and_no_others() -> None:
    assert find_loop_exit_lines(CODE) == {4, 7, 8, 9, 10, 16, 18, 19}


def test_a_module_without_while_has_none() -> None:
    assert find_loop_exit_lines("for x in range(3):\n    break\n") == frozenset()
