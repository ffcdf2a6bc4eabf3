"""Regressions of repairs, on realistic pairs of scripts."""

import textwrap

import pytest

from greenloop.records.script_result import ScriptRun
from greenloop.scripts.regression import find_lost_output, find_regressions, find_suppressed_errors
from tests.support.programs import read_program, read_table

SUMMARY = read_program(__file__, "SUMMARY")


def plain(text: str) -> str:
    return textwrap.dedent(text).lstrip()


def get_changed_source(*pairs: tuple[str, str]) -> str:
    text = plain(SUMMARY)
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("pairs", read_table(__file__, "GOOD"))
def test_good_repair_has_no_regressions(pairs: list[tuple[str, str]]) -> None:
    assert find_regressions(plain(SUMMARY), get_changed_source(*pairs)) == []


@pytest.mark.parametrize(
    ("pairs", "gone"),
    [
        (
            [('    parser.add_argument("--verbose", action="store_true", help="tell more")\n', "")],
            ["the option `--verbose` is gone"],
        ),
        ([('    parser.add_argument("file")\n', "")], ["the argument `file` is gone"]),
        ([('        print("Rows: %d" % len(self.rows))\n', "")], ["the output 'Rows: %d' is gone"]),
        (
            [('print("Total: {:.2f}".format(self.total()))', "pass")],
            ["the output 'Total: {:.2f}' is gone"],
        ),
        ([('    log.info("reading %s", path)\n', "")], ["the output 'reading %s' is gone"]),
        ([('    write_totals(rows, "totals.csv")\n', "")], []),
    ],
)
def test_regressions_are_named(pairs: list[tuple[str, str]], gone: list[str]) -> None:
    assert find_regressions(plain(SUMMARY), get_changed_source(*pairs)) == [
        f"{item}; it has to stay" for item in gone
    ]


def test_shortened_script_has_all_regressions() -> None:
    lines = find_regressions(plain(SUMMARY), "rows = []\nprint('Total: 0')\n")
    text = "\n".join(lines)
    for part in ("class `Report`", "function `load`", "function `main`"):
        assert f"the {part} is gone" in text
    assert "Report.show" not in text
    assert "no longer reads its command line" in text
    assert lines[-1].startswith("only 0 of 37 lines")
    assert len(lines) <= 12


@pytest.mark.parametrize(
    ("old", "new", "says"),
    read_table(__file__, "OPTIONS"),
)
def test_options_of_each_library_are_found(old: str, new: str, says: str) -> None:
    (line,) = find_regressions(old, new)
    assert says in line
    assert find_regressions(old, old) == []


BROKEN = read_program(__file__, "BROKEN")


def test_invalid_source_is_compared_by_patterns() -> None:
    good = plain("""
        import sys
        def load(path):
            print("Reading %s" % path)
            return open(path).read().split()

        class Shape:
            def area(self):
                return 0

        def main():
            p.add_argument("--size", "-s")
            print("All done")
    """)
    assert find_regressions(plain(BROKEN), good) == []
    gone = "\n".join(find_regressions(plain(BROKEN), "def main():\n    print('Reading x')\n"))
    for part in ("`load`", "`Shape`", "`area`", "`--size, -s`", "'All done'"):
        assert part in gone
    assert "`main`" not in gone


def test_moving_code_into_function_is_no_rewrite() -> None:
    lines = [f"value_{n} = compute({n})" for n in range(40)]
    wrapped = "def main():\n" + "".join(f"    {line}\n" for line in lines) + "main()\n"
    assert find_regressions("\n".join(lines) + "\n", wrapped) == []
    other = "\n".join(f"result[{n}] = {n} ** 2" for n in range(40))
    assert "0 of 40 lines" in find_regressions("\n".join(lines), other)[0]


def build_run(stdout: str, status: int | None = 1, *, cut: bool = False) -> ScriptRun:
    return ScriptRun(ending="finished", exit_status=status, stdout=stdout, stdout_cut=cut)


FIRST = (
    "Reading sales.csv at 2024-05-01 10:00:03\nloaded 12 rows in 0.31 s\nheader: region, amount\n"
    "Warning: 2 rows skipped\ncould not parse 'x'\nnorth 10\nnorth 12\nbroken of"
)


def test_missing_output_is_named_and_volatile_parts_ignored() -> None:
    now = "Reading sales.csv at 2025-01-07 09:59:59\nloaded 14 rows in 1.20 s\nnorth 11\n"
    assert find_lost_output(build_run(FIRST), build_run(now, 0)) == [
        "the first version printed 'header: region, amount', this one does not"
    ]
    assert (
        find_lost_output(build_run(FIRST), build_run(now + "header: region, amount, year\n", 0))
        == []
    )


def test_output_is_not_compared_without_evidence() -> None:
    assert find_lost_output(build_run(FIRST, 0), build_run("", 0)) == []
    assert find_lost_output(build_run(FIRST), build_run("a", 0, cut=True)) == []
    assert (
        len(
            find_lost_output(
                build_run("".join(f"{chr(97 + n) * 9}\n" for n in range(20))), build_run("")
            )
        )
        == 5
    )


def test_an_except_that_only_hides_an_error_is_named() -> None:
    original = "try:\n    a()\nexcept OSError:\n    pass\n"
    hidden = original + "try:\n    b()\nexcept Exception:\n    pass\n"
    assert list(find_suppressed_errors(original, hidden)) == [
        "line 7 catches Exception and goes on"
    ]
    reported = original + "try:\n    b()\nexcept Exception as e:\n    print(e)\n"
    assert list(find_suppressed_errors(original, reported)) == []
    assert list(find_suppressed_errors(original, original)) == []
