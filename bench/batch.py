"""Batch throughput with a model that answers after half a second: greenloop's own share.

    python bench/batch.py [--count 200] [--jobs 50] [--delay 0.5] [--grow 10,100,1000,2000]
                          [--beside PYTHON]

Rows for the same specifications, one after another:
`the answers` is computed: the time that the model needs with so many concurrent conversations;
`a client` makes the four requests (contract; code and tests concurrently; review) with ChatOpenAI
alone and discards the answers;
`beside` is `greenloop batch --mutants 0` of another interpreter, an older version for example;
`no mutants` is `greenloop batch --mutants 0 --no-peer`: answers, red phase, tests, grade with isolated
evidence, report and log; `all evidence` has the default number of mutants and a second implementation.
A further row shows the lower bound that the processors set: CPU seconds divided by cores. Then come
time, CPU, memory and descriptors for growing numbers of specifications. CPU is that of all processes
except the model's (needs perf: apt install linux-perf).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from batch_watch import looking
from mutation_tools import run_timed

HERE = Path(__file__).parent
NO_MUTANTS = ("--mutants", "0", "--no-peer")
LANES = 3  # sequential answers: code and tests are requested concurrently
CLIENT = """
import asyncio, sys
from langchain_openai import ChatOpenAI

SYSTEMS = (
    "You turn a specification", "You write one Python module", "You write pytest tests", "You review",
)

async def conversation(model, number):
    async def ask(which):
        await model.ainvoke([("system", SYSTEMS[which]), ("user", f"scale_{number} " + "word " * 700)])
    await ask(0)
    await asyncio.gather(ask(1), ask(2))
    await ask(3)

async def main(count, jobs):
    model, room = ChatOpenAI(model="bench", max_retries=0), asyncio.Semaphore(jobs)
    async def one(number):
        async with room:
            await conversation(model, number)
    await asyncio.gather(*map(one, range(count)))

asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
"""


@dataclass(frozen=True)
class Row:
    """A row of the table: wall-clock seconds of a command, and CPU seconds of all its processes."""

    label: str
    count: int
    wall_s: float
    cpu_s: float = math.nan
    said: str = ""


@contextlib.contextmanager
def model(delay_s: float) -> Iterator[dict[str, str]]:
    """Return the environment in which clients find the model."""
    command = [sys.executable, str(HERE / "batch_model.py"), str(delay_s)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            yield {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
        finally:
            process.terminate()


def client(count: int, jobs: int, environment: dict[str, str]) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", CLIENT, str(count), str(jobs)]
        wall_s, cpu_s, _ = run_timed(command, Path(folder), more=environment)
    return Row("a client", count, wall_s, cpu_s)


def batch(
    count: int,
    jobs: int,
    environment: dict[str, str],
    *,
    label: str = "no mutants",
    options: Sequence[str] = NO_MUTANTS,
    python: str = sys.executable,
) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        lines = (
            {
                "id": f"s{number}",
                "spec": f"Write scale_{number}(values, factor=1): each value times factor; values "
                "below zero are left out; a negative factor raises ValueError.",
            }
            for number in range(count)
        )
        Path(folder, "specs.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in lines), "utf-8"
        )
        command = [python, "-m", "greenloop", "batch", "specs.jsonl", "--quiet", "--json"]
        command += ["--jobs", str(jobs), "--model", "openai:bench", *options]
        with looking(Path(folder)) as looks:
            wall_s, cpu_s, out = run_timed(command, Path(folder), more=environment)
    totals = json.loads(out)
    reached = totals.get("reached", totals.get("passed"))  # "passed" in 0.1.0
    assert reached == count, totals
    said = ", ".join(filter(None, (f"{totals['calls']} calls", looks.describe(count))))
    return Row(label, count, wall_s, cpu_s, said)


def show(row: Row, answers_s: float) -> None:
    print(
        f"{row.label:12} {row.count:5} {row.wall_s:8.1f}s {row.wall_s / answers_s:6.2f}x"
        f" {row.cpu_s:8.1f}s {row.cpu_s / row.count:8.3f}s  {row.said}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=50)
    parser.add_argument("--delay", type=float, default=0.5)
    parser.add_argument("--grow", default="10,100,1000,2000")
    parser.add_argument("--beside", metavar="PYTHON")
    chosen = parser.parse_args()
    count, jobs = chosen.count, chosen.jobs
    answers_s = math.ceil(count / jobs) * LANES * chosen.delay
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {jobs} conversations at once")
    names = ("", "count", "time", "ratio", "CPU", "CPU each")
    print("{:12} {:>5} {:>9} {:>7} {:>9} {:>9}".format(*names))
    with model(chosen.delay) as environment:
        show(Row("the answers", count, answers_s), answers_s)
        asked = client(count, jobs, environment)
        show(asked, answers_s)
        if chosen.beside:
            old = {"label": "beside", "options": NO_MUTANTS[:2], "python": chosen.beside}
            show(batch(count, jobs, environment, **old), answers_s)
        made = batch(count, jobs, environment)
        show(made, answers_s)
        show(batch(count, jobs, environment, label="all evidence", options=()), answers_s)
        cores_s = made.cpu_s / (os.cpu_count() or 1)
        print(f"{'processors':12} {count:5} {cores_s:8.1f}s {cores_s / answers_s:6.2f}x")
        print(f"\ngreenloop : a client {made.wall_s / asked.wall_s:.2f}x (time)\n")
        for number in [int(item) for item in chosen.grow.split(",") if item]:
            needed_s = math.ceil(number / jobs) * LANES * chosen.delay
            show(batch(number, jobs, environment), needed_s)


if __name__ == "__main__":
    main()
