"""Code that could forge a verdict is found with its line; ordinary code is not."""

import pytest

from greenloop.grading.integrity.issues import find_findings, find_integrity_issues
from tests.support.programs import read_table


@pytest.mark.parametrize(("code", "said"), read_table(__file__, "suspicious_code_is_found"))
def test_suspicious_code_is_found(code: str, said: str) -> None:
    found = find_integrity_issues(code)
    assert any(said in item.what for item in found), found
    assert found[0].line >= 1


def test_findings_are_unique_and_sorted_by_line() -> None:
    found = find_integrity_issues(
        "import sys\nimport _thread\nsys.modules, sys.modules\nimport pytest\n"
    )
    assert [item.line for item in found] == [2, 3, 4]


@pytest.mark.parametrize(
    "code", [*read_table(__file__, "ORDINARY"), "-" * 100_000 + "1", "a" + ".b" * 20_000]
)
def test_ordinary_or_unparsable_code_has_no_finding(code: str) -> None:
    assert find_integrity_issues(code) == ()


@pytest.mark.parametrize(("first", "count"), [("", 0), ("__name__ = '__main__'\n", 1)])
def test_code_that_runs_only_as_a_script_is_not_part_of_the_tests(first: str, count: int) -> None:
    code = f"{first}if __name__ == '__main__':\n    import marshal\n"
    assert len(find_findings(code, [])) == count
