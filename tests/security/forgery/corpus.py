"""All cases of the suite in one table, and the rule for their verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.records import Report
from tests.security.forgery.case import Attack
from tests.security.forgery.grading import accusations
from tests.security.forgery.reader import read_forgeries, read_honest, read_subjects

WRONG = read_forgeries("forged")
WRONG_BY_KIND = read_forgeries("forged_by_kind")  # over all kinds of test files
ODD = read_honest("honest")
THOROUGH = read_honest("honest_thorough")  # each deserves `verified`
KINDS = read_subjects("kinds.md")


# What their tests do is not observed for its form, or the wrong answers are none that a test compares.
_UNOBSERVED = frozenset(
    {
        "own equality: a code that decodes what it is compared with",
        "sign of a test: whose method the callback is",
        "sign of a test: a handler that records",
        "read on the way: a case that a helper of the tests is given",
        "read on the way: rows of a fixture",
        "record: a flag that contains all others",
        "record: a flag that equals all others",
    }
)
_ONLY_PASSED = frozenset({"changed framework: recorded messages that were never logged"})


@dataclass(frozen=True)
class Case:
    """A module with its tests; `attack` is None for a correct module.

    `group` is "old" or "new" for forgeries, "odd" for unusual modules, whose tests may be weak,
    "thorough" for those whose tests deserve `verified`.
    """

    name: str
    group: str
    code: str
    tests: str
    conftest: str = ""
    attack: Attack | None = None

    def violation(self, report: Report) -> str:
        """Return how a verdict breaks the rule; '' where it does not.

        Attacks on the verdict itself are `failed`, others are not `verified`, but for tables of
        what the tests ask, a documented limit; no correct module is accused.
        """
        if self.attack is None:
            accused = accusations(report) or (report.reasons if report.verdict == "failed" else ())
            return f"accused: {'; '.join(accused)}" if accused else ""
        if self.attack in ("framework", "equality"):
            is_known = self.name in _ONLY_PASSED and report.verdict == "passed"
            wanted = report.verdict == "failed" or is_known
            return "" if wanted else f"{report.verdict}, not failed"
        is_limit = self.attack == "table" or self.name in _UNOBSERVED
        return "verified" if report.verdict == "verified" and not is_limit else ""


def cases(word: str = "") -> Iterator[Case]:
    """Yield all cases with the word in their group or name."""
    yield from (item for item in _all_cases() if word in f"{item.group}: {item.name}")


def _all_cases() -> Iterator[Case]:
    for group, forgeries in (("old", WRONG), ("new", WRONG_BY_KIND)):
        for name, item in forgeries.items():
            yield Case(name, group, item.code, item.tests(name), item.conftest, item.attack)
    for name, odd in ODD.items():
        yield Case(name, "odd", odd.code, odd.tests)
    for name, odd in THOROUGH.items():
        yield Case(name, "thorough", odd.code, odd.tests)
    for name, subject in KINDS.items():
        yield Case(f"right, {name}", "thorough", subject.right, subject.tests)
