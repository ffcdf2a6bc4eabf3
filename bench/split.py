"""Share of test files that run unchanged with tests and code in two processes, and the cost.

    python bench/split.py [ROUNDS]
    python bench/split.py real [PACKAGE…]

Every pair of the corpus below tests/integration/sandbox/remote_module and the result of every
recorded example run in both modes in the strongest sandbox of this machine, in turns.
With `real`, test files of packages on PyPI run instead (see `bench/real_tests.py`): how many do so
unchanged, and why the others do not. pip fetches them each time; they run in the sandbox.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from real_tests import PACKAGES, real_files  # noqa: E402

from greenloop.agent import CodingAgent  # noqa: E402
from greenloop.app.inputs.specification import read_specification  # noqa: E402
from greenloop.errors import GreenloopError  # noqa: E402
from greenloop.sandbox import Sandbox, open_sandbox  # noqa: E402
from greenloop.sandbox.api import IsolationMode  # noqa: E402
from greenloop.settings import Settings  # noqa: E402
from tests.support.module_corpus import Pair, pairs  # noqa: E402


def examples() -> Iterator[Pair]:
    """Return the code and the tests to which the recorded answers lead."""
    for path in sorted((ROOT / "examples").glob("*.jsonl")):
        with tempfile.TemporaryDirectory() as home:
            settings = Settings(home=Path(home), model=f"replay:{path}", timeout_s=10)
            text = read_specification(str(path.with_suffix(".md"))).text
            try:
                report = asyncio.run(CodingAgent(settings).run(text))
            except (
                GreenloopError
            ) as error:  # on a busy machine other tests than the recorded ones can hang
                print(f"{path.name}: {error}")
                continue
        if report.contract is not None:
            yield Pair(report.contract.module, report.final_code, report.test_code)


def seconds(box: Sandbox, pair: Pair, form: IsolationMode) -> float | None:
    """Return the duration of a run; None if it did not pass."""
    started = time.perf_counter()
    run = box.run_tests(pair.code, pair.tests, module=pair.name, form=form)
    taken = time.perf_counter() - started
    return taken if run.passed else None


def measure(box: Sandbox, pair: Pair, rounds: int) -> tuple[float, float | None] | None:
    """Return median seconds in one process and in two; None if the tests do not pass at all."""
    shared, split = [], []
    for _ in range(rounds):
        shared.append(seconds(box, pair, "shared"))
        split.append(seconds(box, pair, "split"))
        if shared[-1] is None or split[-1] is None:
            break
    if None in shared:
        return None
    plain = statistics.median(item for item in shared if item is not None)
    if None in split:
        return plain, None
    return plain, statistics.median(item for item in split if item is not None)


def main(rounds: int) -> None:
    with open_sandbox(Settings()) as box:
        print(f"{box.info.backend}; medians of {rounds}, in ms\n")
        for title, corpus in (("corpus", pairs), ("examples", examples)):
            report(title, box, list(corpus()), rounds)


def real(packages: list[str]) -> None:
    """Print a line for each test file, and the share."""
    forms: list[str] = []
    with open_sandbox(Settings(timeout_s=20)) as box, tempfile.TemporaryDirectory() as folder:
        for item in real_files(packages, Path(folder)):
            name = f"{item.title}{' (imports renamed)' if item.renamed else ''}"
            run = box.run_tests(item.code, item.tests, module=item.module, form="best")
            if run.passed:
                forms.append(run.form)
                said = "split" if run.form == "split" else f"one process: {run.not_split}"
            else:
                first = [f"{one.exception}: {one.message}" for one in run.failures] or [run.detail]
                said = f"does not pass at all: {first[0]}"
            print(f"{name:52} {len(run.tests):4} tests  {' '.join(said.split())[:200]}", flush=True)
    count, split = len(forms), forms.count("split")
    print(f"\nreal: {split} of {count} run unchanged ({split / max(count, 1):.0%})")


def report(title: str, box: Sandbox, corpus: list[Pair], rounds: int) -> None:
    ratios, count = [], 0
    print(f"{title:32}{'one process':>12}{'split':>8}{'ratio':>7}")
    for pair in corpus:
        found = measure(box, pair, rounds)
        if found is None:
            print(f"{pair.name:32}  does not pass at all")
            continue
        count += 1
        plain, split = found
        if split is None:
            print(f"{pair.name:32}{plain * 1e3:12.0f}   only in one process")
        else:
            ratios.append(split / plain)
            print(f"{pair.name:32}{plain * 1e3:12.0f}{split * 1e3:8.0f}{ratios[-1]:7.2f}")
    share = f"{len(ratios)} of {count} run unchanged ({len(ratios) / max(count, 1):.0%})"
    cost = f"; ratio: median {statistics.median(ratios):.2f}" if ratios else ""
    print(f"{title}: {share}{cost}\n")


if __name__ == "__main__" and sys.argv[1:2] == ["real"]:
    real(sys.argv[2:] or PACKAGES)
elif __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
