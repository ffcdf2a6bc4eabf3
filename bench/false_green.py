"""How often a verdict is wrong, against how often it is given.

    python bench/false_green.py [--only weak,forgeries] [--data DIR] [--evaluation DIR …] [--save FILE]

A false green is a wrong program that is `verified` (or `passed`). Graded are, with what is at hand:

* weak: the modules of bench/weak_corpus with four test files each, without a text, and again with
  the right module as a second implementation (`weak + peer`);
* forgeries: the modules of tests/security/forgery, correct ones and those that fake their green;
* TrickCatcher: the programs of a clone of RinCloud/TrickCatcher (`--data`), see bench/trickcatcher.py;
* evaluations: folders of `greenloop eval` (`--evaluation`), whose hidden tests are the truth.

For each set are printed the right and wrong programs that pass their tests, how many of each are
`verified`, and the share of `verified` and of green verdicts that are wrong, with its 95 % interval
(Wilson). Then follows the risk-coverage curve: of the programs with at most K reasons against
`verified`, the share that is wrong (risk), and how many of all there are (coverage). Tokens for
each right `verified` are printed where they are known.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, product
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

import trickcatcher  # noqa: E402
import weak_tests  # noqa: E402

from greenloop.evals.results import EVAL_RESULTS_FILE, wilson_interval  # noqa: E402
from greenloop.grading import Plan  # noqa: E402
from greenloop.records import Report  # noqa: E402
from greenloop.records.batch import TaskResult  # noqa: E402
from greenloop.sandbox import open_sandbox  # noqa: E402
from tests.security.forgery import grading  # noqa: E402
from tests.security.forgery.corpus import cases  # noqa: E402


@dataclass(frozen=True)
class Outcome:
    """A program that was graded. `reasons` is the number of reasons against `verified`."""

    set: str
    name: str
    is_wrong: bool
    verdict: str
    reasons: int
    tokens: int = 0


def grade_weak(with_peer: bool) -> Iterator[Outcome]:
    """Yield the pairs of weak_corpus that pass their tests."""
    plan, name = Plan(), "weak + peer" if with_peer else "weak"
    threshold = plan.thresholds.mutation_score
    with open_sandbox() as box:
        for task in weak_tests.tasks(""):
            for strength, wrong in product(weak_tests.STRENGTHS, ["", *task.wrong]):
                found = weak_tests.grade_pair(box, task, wrong, strength, plan)
                if found is None:
                    continue
                if with_peer and found.score >= threshold:
                    found = weak_tests.differs_from_peer(box, task, found)
                reasons = len(found.others) + (found.score < threshold)
                is_failed = found.others[:1] and found.others[0].startswith("failed: ")
                verdict = "failed" if is_failed else "passed" if reasons else "verified"
                yield Outcome(
                    name, f"{task.name}, {strength}: {wrong}", bool(wrong), verdict, reasons
                )


def read_trickcatcher(data: Path, contracts: Path | None) -> Iterator[Outcome]:
    """Yield what a second implementation alone says of programs that pass their tests."""
    given = ["--data", str(data), *(["--contracts", str(contracts)] if contracts else [])]
    for name, kind, (found, _) in trickcatcher.results(trickcatcher.read_options(given)):
        if found == "no fault":
            continue
        if kind == "right" and found in trickcatcher.WRONG_AFTER_ALL:
            kind = "wrong"
        is_verified = found in ("nothing", "time")
        verdict = "verified" if is_verified else "failed" if found == "example" else "passed"
        yield Outcome(
            "TrickCatcher, peer alone", name, kind == "wrong", verdict, int(not is_verified)
        )


def grade_forgeries() -> Iterator[Outcome]:
    """Yield the modules of the forgery corpus. All tests are passed by each, or seem to be."""
    with open_sandbox(grading.settings()) as box:
        for case in cases(""):
            report = grading.report_on(box, case.code, case.tests, case.conftest)
            yield Outcome(
                "forgeries", case.name, bool(case.attack), report.verdict, len(report.reasons)
            )


def read_evaluation(folder: Path) -> Iterator[Outcome]:
    """Yield the tasks of an evaluation whose truth is known."""
    lines = (folder / EVAL_RESULTS_FILE).read_text("utf-8").splitlines()
    results = {item.id: item for item in map(TaskResult.model_validate_json, lines)}
    for result in results.values():  # the last line of a task counts
        if result.verdict is None or result.truth not in ("passed", "failed"):
            continue
        file = Path(result.run_dir) / "report.json"
        report = Report.model_validate_json(file.read_bytes()) if file.is_file() else None
        yield Outcome(
            "evaluations",
            result.id,
            result.truth == "failed",
            result.verdict,
            len(report.reasons) if report else int(result.verdict != "verified"),
            int(result.spent.input_tokens + result.spent.output_tokens),
        )


def format_table(outcomes: Sequence[Outcome]) -> Iterator[str]:
    head = (
        "set",
        "right",
        "verified",
        "wrong",
        "verified",
        "green",
        "verified wrong",
        "green wrong",
    )
    yield "{:26} {:>6} {:>9} {:>6} {:>9} {:>6} {:>22} {:>22}".format(*head)
    names = dict.fromkeys(item.set for item in outcomes)
    for name in names:
        mine = [item for item in outcomes if item.set == name]
        right, wrong = ([i for i in mine if i.is_wrong is kind] for kind in (False, True))
        verified = [item for item in mine if item.verdict == "verified"]
        green = [item for item in mine if item.verdict != "failed"]
        row = (
            name,
            len(right),
            sum(item.verdict == "verified" for item in right),
            len(wrong),
            sum(item.verdict == "verified" for item in wrong),
            sum(item.verdict != "failed" for item in wrong),
            _share_wrong(verified),
            _share_wrong(green),
        )
        yield "{:26} {:>6} {:>9} {:>6} {:>9} {:>6} {:>22} {:>22}".format(*row)
        if tokens := sum(item.tokens for item in mine):
            trusted = sum(not item.is_wrong for item in verified)
            per = f"{tokens / trusted:,.0f}" if trusted else "none verified"
            yield f"{'':26} tokens for each right `verified`: {per}"


def _share_wrong(items: Sequence[Outcome]) -> str:
    if not items:
        return "none given"
    count = sum(item.is_wrong for item in items)
    low, high = wilson_interval(count, len(items))
    return f"{count / len(items):.1%} [{low:.1%}, {high:.1%}]"


def format_curve(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield risk and coverage by the greatest number of reasons that is taken for good."""
    green = [item for item in outcomes if item.verdict != "failed"]
    yield "\nreasons   coverage   risk (of these, wrong)"
    for most in sorted({item.reasons for item in green}):
        taken = [item for item in green if item.reasons <= most]
        yield f"<= {most:<5} {len(taken) / len(outcomes):>9.1%}   {_share_wrong(taken)}"


def run_sets(options: argparse.Namespace) -> Iterator[Outcome]:
    """Yield the outcomes of the sets that were chosen, by default of all that are at hand."""
    sets: dict[str, Callable[[], Iterator[Outcome]]] = {
        "weak": lambda: grade_weak(with_peer=False),
        "weak+peer": lambda: grade_weak(with_peer=True),
        "forgeries": grade_forgeries,
        "trickcatcher": lambda: read_trickcatcher(options.data, options.contracts),
        "evaluations": lambda: chain.from_iterable(map(read_evaluation, options.evaluation)),
    }
    for name in options.only.split(",") if options.only else sets:
        if name != "trickcatcher" or options.data:
            yield from sets[name]()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = "weak, weak+peer, forgeries, trickcatcher, evaluations"
    parser.add_argument("--only", default="", help=f"{names}, with commas")
    parser.add_argument("--data", type=Path, help="a clone of RinCloud/TrickCatcher")
    parser.add_argument("--contracts", type=Path, help="HumanEvalPlus.jsonl[.gz], for --data")
    parser.add_argument("--evaluation", type=Path, nargs="*", default=[], metavar="DIR")
    parser.add_argument("--save", type=Path, help="write each outcome as a line of JSON")
    options = parser.parse_args()
    outcomes = []
    for item in run_sets(options):
        outcomes.append(item)
        print(f"{item.verdict:9} {item.set}: {item.name}", file=sys.stderr, flush=True)
    if options.save:
        lines = (json.dumps(asdict(item)) for item in outcomes)
        options.save.write_text("\n".join(lines) + "\n", "utf-8")
    print("\n".join([*format_table(outcomes), *format_curve(outcomes)]))


if __name__ == "__main__":
    main()
