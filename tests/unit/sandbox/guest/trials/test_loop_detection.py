"""Lines that decide whether a loop ends."""

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


def test_loop_heads_exits_and_condition_changes_are_found() -> None:
    assert find_loop_exit_lines(CODE) == {4, 7, 8, 9, 10, 16, 18, 19}


def test_module_without_while_has_no_lines() -> None:
    assert find_loop_exit_lines("for x in range(3):\n    break\n") == frozenset()
