"""What each piece of evidence contributes against forgeries, and what it costs.

    python bench/ablation.py [WORD] [--save FILE] [--reports FILE]

Every case of tests/security/forgery is graded once, all pieces with mutants; WORD selects cases by
group or name. For each piece are printed: the forgeries that only it keeps from `verified` and
those that only it makes `failed`, how many it stops in all, the correct modules that only it keeps
from `verified`, its seconds in a grade (median, wall time: pieces run in pairs), and the lines of
product code that serve it alone. Below the table are the names. `--save` keeps what was found as
JSON lines, `--reports` prints the table of such a file.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from greenloop.grading import Plan  # noqa: E402
from greenloop.records import Report  # noqa: E402
from greenloop.records.evidence import Evidence, piece_types  # noqa: E402
from greenloop.records.evidence.base import Piece  # noqa: E402
from greenloop.records.evidence.integrity import Integrity  # noqa: E402
from greenloop.sandbox import open_sandbox  # noqa: E402
from tests.security.forgery.corpus import Case, cases  # noqa: E402
from tests.security.forgery.grading import grade, settings  # noqa: E402

PLAIN_RUN, PRESENCE, INTEGRITY = "plain run", "presence", "integrity"
# Code that serves one piece and stands in neither its package nor its record.
_MORE_CODE = {
    PRESENCE: ("greenloop/grading/unreported_tests.py",),
    INTEGRITY: ("greenloop/grading/integrity",),
    "isolated": ("greenloop/testsuite/programs", "greenloop/sandbox/guest/observation"),
}


@dataclass(frozen=True)
class Result:
    """A graded case: the pieces that keep it from `verified`, and those that make it `failed`."""

    name: str
    group: str
    attack: str | None
    verdict: str
    short: list[str]
    accusing: list[str]
    seconds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, case: Case, report: Report) -> Result:
        short, accusing = set(_short_pieces(report.evidence)), set(_accusing_pieces(report))
        if not report.evidence.is_graded:
            short = {PLAIN_RUN} if report.verdict == "failed" else set()
        return cls(
            name=case.name,
            group=case.group,
            attack=case.attack,
            verdict=report.verdict,
            short=sorted(short | accusing),
            accusing=sorted(accusing),
            seconds=report.evidence.seconds,
        )


def _short_pieces(evidence: Evidence) -> Iterator[str]:
    """Yield the pieces that are short, or needed and missing, whatever the verdict was."""
    for key, kind in piece_types().items():
        piece = getattr(evidence, key)
        if isinstance(piece, Piece):
            if any(True for _ in piece.unmet(evidence.thresholds)):
                yield key
        elif key in evidence.not_measured or kind.needed == "always":
            yield key
    if evidence.integrity:
        yield INTEGRITY


def _accusing_pieces(report: Report) -> Iterator[str]:
    """Yield the pieces because of which the verdict is `failed`."""
    if not report.evidence.is_graded:
        if report.verdict == "failed":
            yield PLAIN_RUN
        return
    accusing = [
        key
        for key in piece_types()
        if isinstance(piece := getattr(report.evidence, key), Piece) and piece.forgery()
    ]
    yield from accusing
    if report.verdict == "failed" and (not accusing or "never reported" in report.reasons[0]):
        yield PRESENCE


def grade_cases(word: str, save: TextIO) -> Iterator[Result]:
    """Grade the cases, and write each result as soon as it is there."""
    with open_sandbox(settings()) as box:
        for case in cases(word):
            report = grade(box, case.code, case.tests, case.conftest, Plan())
            result = Result.of(case, report)
            print(f"{result.verdict:<8} {case.name}: {', '.join(result.short)}", file=sys.stderr)
            print(json.dumps(asdict(result)), file=save, flush=True)
            yield result


def product_lines(piece: str) -> int:
    """Return the lines of the files that serve a piece alone."""
    kinds: dict[str, type[Piece]] = {**piece_types(), INTEGRITY: Integrity}
    places = [ROOT / path for path in _MORE_CODE.get(piece, ())]
    if kind := kinds.get(piece):
        places.append(ROOT / (kind.__module__.replace(".", "/") + ".py"))
        if module := kind.measured_by.partition(":")[0]:
            package = module.rpartition(".")[0]
            own = ROOT / (module if package == "greenloop.grading" else package).replace(".", "/")
            places += [own, own.with_suffix(".py")]
    files = {file for place in places for file in (*place.glob("**/*.py"), place)}
    return sum(len(file.read_text("utf-8").splitlines()) for file in files if file.is_file())


def table(results: list[Result]) -> Iterator[str]:
    forged = [item for item in results if item.attack]
    honest = [item for item in results if not item.attack]
    pieces = [*piece_types(), INTEGRITY, PRESENCE, PLAIN_RUN]
    yield "piece                 stops  alone  fails alone  honest alone  seconds  lines"
    names: list[str] = []
    for piece in pieces:
        stopped = [item for item in forged if piece in item.short]
        alone = [item.name for item in forged if item.short == [piece]]
        failing = [item.name for item in forged if item.accusing == [piece]]
        kept = [item.name for item in honest if item.short == [piece]]
        times = [item.seconds[piece] for item in results if piece in item.seconds]
        seconds = f"{statistics.median(times):.2f}" if times else "-"
        yield (
            f"{piece:<20} {len(stopped):>6} {len(alone):>6} {len(failing):>12} {len(kept):>13}"
            f" {seconds:>8} {product_lines(piece) or '-':>6}"
        )
        groups = (("stops alone", alone), ("fails alone", failing), ("keeps alone, honest", kept))
        names += [f"{piece} {what}: {'; '.join(found)}" for what, found in groups if found]
    verified = [item.name for item in forged if not item.short]
    yield f"{len(forged)} forgeries, {len(verified)} verified; {len(honest)} correct modules"
    yield from ("", *names, f"verified: {'; '.join(verified)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("word", nargs="?", default="")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--reports", type=Path)
    options = parser.parse_args()
    if options.reports:
        lines = options.reports.read_text("utf-8").splitlines()
        results = [Result(**json.loads(line)) for line in lines]
    else:
        with open(options.save or os.devnull, "w", encoding="utf-8") as save:
            results = list(grade_cases(options.word, save))
    print("\n".join(table(results)))


if __name__ == "__main__":
    main()
