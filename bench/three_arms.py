"""One answer, the tutorials' loop and greenloop: same tasks, same model, hidden tests as the truth.

    python bench/three_arms.py --tasks DATA --model NAME --output FILE [--url URL] [--every N]
        [--first N] [--limit N] [--arms answer,loop,greenloop] [-- OPTIONS OF GREENLOOP]
    python bench/three_arms.py --output FILE

DATA is what `greenloop eval` reads: a file of HumanEval+, MBPP or greenloop's own form, or a folder of
exercises. NAME is a model of an OpenAI-compatible server at `--url` (default: OPENAI_BASE_URL), for example
that of bench/local_model.py. FILE has a line of JSON for each task and arm; a run that was stopped goes on
where it ended, and without `--tasks` the table of FILE is printed.

Printed for each arm: programs that the hidden tests find right; those that the arm claims to be right (green;
for greenloop `passed` or `verified`), and how many of these are wrong; the same for `verified`; runs without a
result; tokens, calls and seconds. Shares have a 95 % interval (Wilson).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from tutorial_loop import Ask, LoopResult, Spent, answer_once, run_tutorial_loop

from greenloop.evals.datasets.loader import TaskSource
from greenloop.evals.hidden_tests import adapt_settings_to_format, outcome_from_run
from greenloop.evals.results import wilson_interval
from greenloop.evals.task import EvalTask
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings

ARMS = ("answer", "loop", "greenloop")
LIMIT_S = 7_200
MAX_OUTPUT = 2_048  # tokens: a small model can repeat itself until its context is full


@dataclass(frozen=True)
class Row:
    """Result of one arm on one task; `claim` is `verified`, `green`, `red` or `none`."""

    task: str
    arm: str
    claim: str
    is_right: bool
    calls: int
    tokens: int
    seconds: float
    note: str = ""


def build_ask(model: str, url: str) -> Ask:
    """Return a function that asks an OpenAI-compatible server, with a temperature of 0.

    A prompt that was asked before is answered, and counted, as it was then.
    """
    from openai import OpenAI
    from openai.types.chat import ChatCompletion

    client = OpenAI(base_url=url, api_key=os.environ.get("OPENAI_API_KEY", "none"), timeout=3_600)

    @cache
    def complete(prompt: str) -> ChatCompletion:
        return client.chat.completions.create(
            model=model,
            temperature=0,
            max_tokens=MAX_OUTPUT,
            messages=[{"role": "user", "content": prompt}],
        )

    def ask(prompt: str, spent: Spent) -> str:
        answer = complete(prompt)
        spent.calls += 1
        if answer.usage:
            spent.input_tokens += answer.usage.prompt_tokens
            spent.output_tokens += answer.usage.completion_tokens
        return answer.choices[0].message.content or ""

    return ask


def judge(box: Sandbox, task: EvalTask, code: str) -> bool:
    """Return whether the hidden tests of a task pass on the code."""
    if not code.strip():
        return False
    files = [item.to_test_file() for item in task.tests]
    run = box.run_tests(code, files, module=task.module)
    return outcome_from_run(files, run).truth == "passed"


def run_baseline(
    arm: Callable[[Ask, str], LoopResult], name: str, ask: Ask, box: Sandbox, task: EvalTask
) -> Row:
    """Run one of the two arms that need no greenloop, and judge its code."""
    started = time.monotonic()
    result = arm(ask, task.spec)
    seconds = time.monotonic() - started
    spent = result.spent
    tokens = spent.input_tokens + spent.output_tokens
    claim = "green" if result.is_green else "red"
    return Row(task.id, name, claim, judge(box, task, result.code), spent.calls, tokens, seconds)


def run_greenloop(
    model: str, url: str, options: Sequence[str], box: Sandbox, task: EvalTask
) -> Row:
    """Run the command line of greenloop on a task, and judge the code of its report."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "task.md")
        text.write_text(task.spec, "utf-8")
        command = [sys.executable, "-m", "greenloop", "make", str(text), "--json", "--ask", "never"]
        command += ["--model", f"openai:{model}", "--run-dir", f"{folder}/run", *options]
        environment = {"OPENAI_API_KEY": "none", **os.environ, "OPENAI_BASE_URL": url}
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=folder, env=environment, timeout=LIMIT_S
        )
    seconds = time.monotonic() - started
    try:
        report = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return Row(task.id, "greenloop", "none", False, 0, 0, seconds, f"{done.returncode}: {last}")
    return read_report(report, task, seconds, box, done.returncode)


def read_report(
    report: dict[str, Any], task: EvalTask, seconds: float, box: Sandbox, status: int
) -> Row:
    """Return the row of a report; one that ended with status 3 or 4 has no result."""
    claims = {"verified": "verified", "passed": "green", "failed": "red"}
    claim = "none" if status not in (0, 1) else claims[report["verdict"]]
    usage = report["usage"]
    tokens = usage["input_tokens"] + usage["output_tokens"]
    is_right = judge(box, task, report["final_code"] or "")
    note = "; ".join(map(str, report["reasons"]))[:400]
    return Row(task.id, "greenloop", claim, is_right, usage["calls"], tokens, seconds, note)


def share(count: int, total: int) -> str:
    """Return `count of total (share; interval)`."""
    if not total:
        return "0 of 0"
    low, high = wilson_interval(count, total)
    return f"{count} of {total} ({count / total:.0%}; {low:.0%}–{high:.0%})"


def format_table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the table, an arm each, over the tasks that all arms have."""
    arms = [arm for arm in ARMS if any(row.arm == arm for row in rows)]
    common = set.intersection(*({row.task for row in rows if row.arm == arm} for arm in arms))
    yield f"{len(common)} tasks"
    for arm in arms:
        mine = [row for row in rows if row.arm == arm and row.task in common]
        green = [row for row in mine if row.claim in ("green", "verified")]
        verified = [row for row in mine if row.claim == "verified"]
        yield f"{arm}:"
        yield f"  right                  {share(sum(row.is_right for row in mine), len(mine))}"
        yield f"  claimed green          {share(len(green), len(mine))}"
        yield f"    of these wrong       {share(sum(not r.is_right for r in green), len(green))}"
        yield f"  verified               {share(len(verified), len(mine))}"
        wrong = sum(not row.is_right for row in verified)
        yield f"    of these wrong       {share(wrong, len(verified))}"
        yield f"  without a result       {sum(row.claim == 'none' for row in mine)}"
        yield (
            f"  tokens {sum(r.tokens for r in mine):,}, calls {sum(r.calls for r in mine)}, "
            f"{sum(r.seconds for r in mine):,.0f} s"
        )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=Path)
    parser.add_argument("--model", default="")
    parser.add_argument("--url", default=os.environ.get("OPENAI_BASE_URL", ""))
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="take each Nth task")
    parser.add_argument("--first", type=int, default=0, help="leave the first N tasks out")
    parser.add_argument("--limit", type=int, default=None, help="take at most N tasks")
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument("options", nargs="*", help="options of greenloop, after --")
    return parser.parse_args()


def read_rows(file: Path) -> list[Row]:
    if not file.is_file():
        return []
    return [Row(**json.loads(line)) for line in file.read_text("utf-8").splitlines() if line]


def run_all(arguments: argparse.Namespace) -> None:
    """Run each arm on each task that the output does not have yet."""
    source = TaskSource(arguments.tasks)
    done = {(row.task, row.arm) for row in read_rows(arguments.output)}
    ask = build_ask(arguments.model, arguments.url)
    with open_sandbox(adapt_settings_to_format(Settings(), source.format)) as box:
        arms: dict[str, Callable[[EvalTask], Row]] = {
            "answer": partial(run_baseline, answer_once, "answer", ask, box),
            "loop": partial(run_baseline, partial(_loop, box), "loop", ask, box),
            "greenloop": partial(
                run_greenloop, arguments.model, arguments.url, arguments.options, box
            ),
        }
        tasks = list(source)[arguments.first :: arguments.every][: arguments.limit]
        for task in tasks:
            for arm in arguments.arms.split(","):
                if (task.id, arm) not in done:
                    row = arms[arm](task)
                    with arguments.output.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(asdict(row)) + "\n")
                    print(row, flush=True)


def _loop(box: Sandbox, ask: Ask, specification: str) -> LoopResult:
    return run_tutorial_loop(ask, specification, box)


def main() -> int:
    arguments = parse_arguments()
    if arguments.tasks:
        if not arguments.url or not arguments.model:
            print("name a model with --model, and its server with --url or OPENAI_BASE_URL")
            print("a small one: python bench/local_model.py")
            return 2
        run_all(arguments)
    rows = read_rows(arguments.output)
    if not rows:
        print(f"{arguments.output} has no results")
        return 2
    print("\n".join(format_table(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
