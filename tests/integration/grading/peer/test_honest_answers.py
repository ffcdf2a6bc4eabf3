"""Answers of honest programs that look different, and differences that look alike."""

import pytest

from greenloop.grading.peer.comparison import Comparison, PeerProgram, compare_programs
from greenloop.sandbox import Sandbox
from tests.support.programs import read_program, read_table

# Two forms of a body each; `n` is a whole number from 0 to 19.
ALIKE = read_table(__file__, "ALIKE")
DIFFERENT = {
    "kind": ("return n * 1.0", "return n", "raises"),
    "truth": ("return n > 5", "return int(n > 5)", ""),
    "digits": ("return n / 7", "return round(n / 7, 3)", ""),
    "order": ("return [n, 0]", "return [0, n]", ""),
    "error": ("raise KeyError(n)", "raise ValueError(n)", ""),
    "output": ("print(n + 1)", "print(n)", "prints"),
    "silent": ("return None", "print(n)", "prints"),
    "main": ("print(n + 1)\n    return 0", "print(n)\n    return 0", "prints"),
    "buffer": ("return bytes([n])", "return bytearray([n])", ""),
    "nothing": ("return None", "return 0", ""),
}
INPUTS = read_program(__file__, "INPUTS")


def _write(bodies: dict[str, str]) -> str:
    thing = (
        "class Thing:\n    def __init__(self, n):\n        self.n = n\n        self.__own = n\n\n"
    )
    return thing + "\n".join(f"def {k}(n):\n    {body}\n" for k, body in bodies.items())


def _compare(
    warm: Sandbox, code: dict[str, str], peer: dict[str, str], inputs: str = INPUTS
) -> Comparison:
    names = [*code, "spare"]  # of several names the first argument is one
    interface = "class Thing:\n    n: int\n\n" + "".join(f"def {i}(n: int): ...\n" for i in names)
    return compare_programs(
        warm,
        module="m",
        code=_write(code | {"spare": "return n"}),
        peer=PeerProgram(_write(peer | {"spare": "return n"}), inputs.format(names=names)),
        interface=interface,
        specification="Raises ValueError.",
        tests=[],
        examples=[],
        seed="1",
        budget_s=20.0,
    )


def test_honest_programs_do_not_differ(warm: Sandbox) -> None:
    found = _compare(
        warm, {k: one for k, (one, _) in ALIKE.items()}, {k: two for k, (_, two) in ALIKE.items()}
    )
    assert found.differences == ()
    assert found.problem == ""
    assert found.agreed >= 50


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_a_caller_sees_is_a_difference(warm: Sandbox, name: str) -> None:
    one, other, shown = DIFFERENT[name]
    found = _compare(warm, {name: one}, {name: other})
    assert found.differences
    assert all(item.call.startswith(f"{name}(") for item in found.differences)
    assert shown in found.differences[0].code or shown == "raises"


@pytest.mark.parametrize("body", ["raise RuntimeError(n)", "return False", "return n.missing"])
def test_a_precondition_that_allows_nothing_is_said_in_one_line(warm: Sandbox, body: str) -> None:
    inputs = f"def inputs(rng):\n    yield 'a', 1\n\ndef allowed(name, n):\n    {body}\n"
    found = _compare(warm, {"a": "return n"}, {"a": "return n"}, inputs)
    assert (found.allowed, found.differences) == (0, ())
    assert found.problem.startswith("the second implementation accepts none of ")
    assert len(found.problem.splitlines()) == 1
