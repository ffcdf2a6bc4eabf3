"""Mutants of large real modules: all compile, none is generated twice, samples are spread."""

import sysconfig
import time
import warnings
from pathlib import Path

import pytest

from greenloop.grading.mutation import generate_mutants, sample_mutants
from greenloop.syntax.bytecode import fingerprint_code

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
MODULES = (
    "abc bisect cmd codeop colorsys contextlib copy copyreg csv dis filecmp fnmatch getopt getpass "
    "glob graphlib gzip heapq hmac keyword linecache netrc nturl2path opcode pprint queue quopri "
    "reprlib sched secrets shelve shlex stat string struct tabnanny textwrap this timeit token types"
).split()
EVERY = 50  # only these are compiled as whole modules: all would take minutes


def sources() -> list[Path]:
    return [path for name in MODULES if (path := LIBRARY / f"{name}.py").exists()]


def identity_of(code: str) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fingerprint_code(compile(code, "<module>", "exec", dont_inherit=True))


def test_corpus_is_large() -> None:
    assert len(sources()) >= 30


@pytest.mark.slow
@pytest.mark.parametrize("path", sources(), ids=lambda path: path.stem)
def test_every_mutant_of_a_library_module_is_another_program(path: Path) -> None:
    code = path.read_text("utf-8")
    found = generate_mutants(code)
    assert found == generate_mutants(code)
    assert len({item.id for item in found}) == len(found)
    assert [item.edit.start for item in found] == sorted(item.edit.start for item in found)
    chosen = found[::EVERY]
    programs = {identity_of(code), *(identity_of(item.edit.apply_to(code)) for item in chosen)}
    assert len(programs) == len(chosen) + 1
    for item in found:
        assert code[item.edit.start : item.edit.end] == item.original
        assert item.before in code
        assert item.before != item.after


def test_equal_programs_are_one_mutant() -> None:
    """`not x` turned round by its sign and by the condition; a branch that is `pass` already."""
    found = generate_mutants("def f(x):\n    if not x:\n        return x\n")
    assert [item.operator for item in found if item.line == 2] == ["condition"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "def f(a, b):\n"
        + "".join(f"    if a > {n} and b:\n        a += {n}\n" for n in range(500)),
        f"def f(a):\n    return {' and '.join(f'a > {n}' for n in range(500))}\n",
        f"def f(a):\n    {'; '.join(f'a += {n}' for n in range(500))}\n    return a\n",
    ],
    ids=["statements", "operands", "statements in one line"],
)
def test_generation_is_linear_in_the_code(code: str) -> None:
    before = time.process_time()
    assert generate_mutants(code)
    assert time.process_time() - before < 10  # quadratic: 15 to 60


def test_line_ends_and_multibyte_letters_keep_offsets() -> None:
    lines = ["# Größe", "def f(ä):", "    s = 'ö'; return ä + 1"]
    for end in ("\n", "\r\n"):
        code = end.join([*lines, ""])
        found = next(item for item in generate_mutants(code) if item.operator == "arithmetic")
        assert (found.line, found.original) == (3, "ä + 1")
        assert found.after == "    s = 'ö'; return ä - 1"


def test_sample_is_spread_and_deterministic() -> None:
    code = "".join(
        f"def f{n}(a, b):\n    c = a + b\n    d = a * {n + 2}\n    return c < d\n" for n in range(8)
    )
    found = generate_mutants(code)
    eight = sample_mutants(found, 8, 0)
    assert {item.function for item in eight} == {f"f{n}" for n in range(8)}
    assert {item.line for item in sample_mutants(found, 24, 0)} == {item.line for item in found}
    assert sample_mutants(found, 8, 0) == eight
    assert sample_mutants(found, 8, 1) != eight
    assert sample_mutants(found, 10_000, 3) == found
    assert sample_mutants(found, 0, 0) == ()
