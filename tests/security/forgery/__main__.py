"""Print the verdict of each forgery and each unusual module: `python -m tests.security.forgery [WORD]`."""

import sys
import time
from collections import Counter

from greenloop.records import Report
from greenloop.sandbox import open_sandbox
from tests.security.forgery.corpus import Case, cases
from tests.security.forgery.grading import accusations, caught_by, report_on, settings

_VERDICTS = ("verified", "passed", "failed")


def main(word: str = "") -> None:
    """Print a line for each case with the word in it, then the verdicts by attack."""
    started = time.monotonic()
    results: list[tuple[Case, Report]] = []
    with open_sandbox(settings()) as box:
        for case in cases(word):
            report = report_on(box, case.code, case.tests, case.conftest)
            results.append((case, report))
            print(_line(case, report), flush=True)
    for line in _summary(results):
        print(line)
    print(f"{time.monotonic() - started:.0f} s")


def _line(case: Case, report: Report) -> str:
    mark = "!" if case.violation(report) else " "
    accused = "; ".join(accusations(report)) if case.attack is None else ""
    found = " | ".join(filter(None, (accused, caught_by(report))))
    return f"{mark} {report.verdict:<8} {case.group:<8} {_kind(case):<10} {case.name}: {found}"


def _kind(case: Case) -> str:
    return case.attack or "honest"


def _summary(results: list[tuple[Case, Report]]) -> list[str]:
    """Return the verdicts by group and attack, and how many cases break the rule."""
    lines = ["", f"{'group':<8} {'attack':<10} verified  passed  failed  against the rule"]
    for group, kind in dict.fromkeys((case.group, _kind(case)) for case, _ in results):
        found = [pair for pair in results if (pair[0].group, _kind(pair[0])) == (group, kind)]
        verdicts = Counter[str](report.verdict for _, report in found)
        broken = sum(bool(case.violation(report)) for case, report in found)
        numbers = "".join(f"{verdicts[verdict]:>8}" for verdict in _VERDICTS)
        lines.append(f"{group:<8} {kind:<10} {numbers} {broken:>17}")
    honest = [report.verdict for case, report in results if case.group == "thorough"]
    if honest:
        share = honest.count("verified") / len(honest)
        lines.append(f"thorough tests of correct modules: {share:.0%} of {len(honest)} verified")
    return lines


if __name__ == "__main__":
    main(*sys.argv[1:])
