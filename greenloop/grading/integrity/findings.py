"""All that the source of a module says against a verdict that its tests give it."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from greenloop.grading.integrity.issues import find_integrity_issues
from greenloop.grading.integrity.process_reads import find_process_reads
from greenloop.records import IntegrityFinding


def find_findings(code: str, tests: Iterable[str]) -> tuple[IntegrityFinding, ...]:
    """Return what could forge a verdict, and reads that none of the tests names, by line."""
    found = {*find_integrity_issues(code), *find_process_reads(code, tests)}
    return tuple(sorted(found, key=attrgetter("line", "what")))
