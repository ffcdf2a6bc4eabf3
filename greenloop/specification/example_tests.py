"""Tests made of a specification's examples; their source is part of the user's test file."""

from __future__ import annotations

from greenloop.records import GivenExample

_CHECKER_SOURCE = """
# Examples that stand in the specification, taken over as they are.
def _check_specification_example(text):
    import ast
    import doctest
    import math

    import MODULE

    class Checker(doctest.OutputChecker):
        # What a literal means counts, not how it is written: the order of a set, a float's last
        # digits, line breaks. Everything else is compared as text.
        def check_output(self, want, got, flags):
            if super().check_output(want, got, flags):
                return True
            try:
                return same(ast.literal_eval(want.strip()), ast.literal_eval(got.strip()))
            except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
                return want.rstrip() == got.rstrip()

    def same(want, got):
        if type(want) is not type(got):
            return False
        if isinstance(want, float):
            return math.isclose(want, got, rel_tol=1e-9, abs_tol=1e-12)
        if isinstance(want, (list, tuple)):
            return len(want) == len(got) and all(map(same, want, got))
        if isinstance(want, dict):
            return want.keys() == got.keys() and all(same(want[key], got[key]) for key in want)
        return want == got

    names = dict(vars(MODULE))
    example = doctest.DocTestParser().get_doctest(text, names, "specification", None, 0)
    runner = doctest.DocTestRunner(Checker(), False, doctest.IGNORE_EXCEPTION_DETAIL)
    wrong = []
    runner.run(example, out=wrong.append)
    assert not wrong, "".join(wrong)
"""


def render_example_tests(module: str, examples: tuple[GivenExample, ...]) -> str:
    """Return tests that check the examples with doctest, one test each; '' without examples."""
    if not examples:
        return ""
    tests = [_render_example_test(number, item) for number, item in enumerate(examples, 1)]
    checker = _CHECKER_SOURCE.replace("MODULE", module).strip("\n")
    return "\n\n\n".join([checker, *tests]) + "\n"


def _render_example_test(number: int, example: GivenExample) -> str:
    text = "\n".join(f"        {line!r}" for line in example.doctest.splitlines(keepends=True))
    return (
        f"def test_specification_example_{number}():\n"
        f'    """An example of the specification, as it stands there."""\n'
        f"    _check_specification_example(\n{text}\n    )"
    )
