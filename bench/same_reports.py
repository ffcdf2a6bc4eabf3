"""Compares the reports of two checkouts on all recorded examples. One run, one command.

    python bench/same_reports.py OLD NEW [--mutants] [--only NAME …] [--keep DIR]
    python bench/same_reports.py OLD NEW --old-results DIR

OLD and NEW are checkouts. Both run the same commands on the same files, those of OLD's `examples/`:
`make` on each specification with a recording, the commands of `examples/README.md` (heal, script),
and the evaluation of `examples/eval`; with `--mutants` also `check … --mutants all` on each module of
`bench/mutation_corpus`. Each command is a process of its own, `PYTHON -m greenloop …` with its
checkout first on PYTHONPATH, in a temporary folder, one at a time, old and new in turn.

What is compared: every key of report.json. Lists of objects with an `id` are compared by it.
Exceptions, all below:

- `IGNORED`: times, durations, versions.
- `PATHS`: null or not, and the file's name.
- `TEXTS`: texts that greenloop writes. Compared by whether they are empty, lists by their length.
  A text that stands in the recording is the model's and has to be equal.
- Input tokens, where the recording has no usage: they are estimated from the prompt's length.
- A mutant that is noticed may be noticed in another way (killed, timeout, crashed): on a busy machine
  a slow test becomes a timeout. The three counts are compared as one sum, the outcomes as one word.

What time limits cut depends on how busy the machine is. So an example that differs is run again, old and
new, up to `--tries` times: a difference is a value that NEW never has in common with OLD. What one
of them does not repeat is printed as a note, whether or not it is a difference in the end.

A difference is printed as `example: key | old | new`. An example that cannot run is printed with the
reason. Either makes the exit status 1. With `--keep` all that ran is kept; with `--old-results` (a
folder of `--keep`) OLD is only run where that folder lacks something.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Flat = dict[str, Any]
ABSENT = "(absent)"
MAX_SECONDS = 1800
MAX_SHOWN, MAX_LINES = 160, 60

# Keys that only NEW has and that are meant to be there, as regular expressions.
ADDED: tuple[str, ...] = (r"evidence\.extra", r"setup\.options\.prompts")

IGNORED = (
    r"schema_version",
    r"timings\..*",
    r"tests\[.*\]\.duration_s",
    r"attempts\[.*\]\.seconds",
    r"evidence\.seconds\.[^.]*",  # the keys are compared, as `evidence.seconds`
    r"evidence\.mutation\.seconds",
    r"environment\.(greenloop|python|packages)(\..*)?",
    r"setup\.greenloop",
    r"(total|mean|results\[.*\]\.spent)\.seconds",
)
PATHS = (
    r"artifacts\..*",
    r"environment\.model",
    r"setup\.(tasks|model)",
    r"results\[.*\]\.run_dir",
)
TEXTS = (
    r"reasons",
    r".*\.(cut_short|forged|why|trouble|question|what|detail)",
    r".*\.not_measured\.[^.]*",
    r"evidence\.assertion_mutation\.green\[.*\]\.change",
    r"tests\[.*\]\.judgement",
    r"review\[.*\]\.message",
    r"attempts\[.*\]\.remark",
    r"disputes\[.*\]\.because",
    r"patches\[.*\]\.change",
    r"environment\.sandbox\.isolation",
)
ESTIMATED = (r"usage\.(by_tool\..*\.)?input_tokens", r"attempts\[.*\]\.tokens", r".*\.input_tokens")
NOTICED = ("killed", "timeout", "crashed")
NOTICED_COUNTS = tuple(f"evidence.mutation.{name}" for name in NOTICED)
# The time in pytest's last line, and the address of an object in a node id.
NOISE = ((re.compile(r"\b\d+\.\d+s\b"), "<time>s"), (re.compile(r"0x[0-9a-f]{6,}"), "<address>"))


@dataclass(frozen=True)
class Example:
    """One command, as a user types it after `greenloop`, in a folder that has OLD's examples."""

    name: str
    words: tuple[str, ...]
    recording: Path | None = None

    def join_answers(self) -> str:
        """Return all answers with blanks joined: a text that occurs in them is the model's."""
        return _join(" ".join(str(item.get("answer", "")) for item in self.answers()))

    def has_usage(self) -> bool:
        """Whether each recorded answer has its own token counts."""
        return all("usage" in item for item in self.answers())

    def answers(self) -> list[dict[str, Any]]:
        lines = self.recording.read_text("utf-8").splitlines() if self.recording else []
        entries = [json.loads(line) for line in lines if line.strip()]
        return [item for item in entries if "tool" in item]


@dataclass(frozen=True)
class Checkout:
    """A tree and the interpreter that runs it."""

    label: str
    root: Path
    python: str


@dataclass(frozen=True)
class Result:
    """Result of one command. `reports` by name: the printed one (''), and those of runs below."""

    words: list[str]
    status: int | None
    reports: dict[str, dict[str, Any]]
    trouble: str = ""
    seconds: float = 0.0


# --- what is run


def examples(root: Path) -> Iterator[Example]:
    """Yield the recorded examples of a checkout."""
    folder = root / "examples"
    for text in sorted(folder.glob("*.md")):
        recording = text.with_suffix(".jsonl")
        if recording.exists():
            model = ("--model", f"replay:examples/{recording.name}")
            words = ("make", f"examples/{text.name}", *model)
            yield Example(text.stem, words, recording)
    lines = (folder / "README.md").read_text("utf-8")
    for command in re.findall(r"^greenloop ((?:heal|script) .*)$", lines, re.MULTILINE):
        found = re.search(r"examples/(\w+)/", command)
        assert found is not None, command
        answers = folder / found[1] / "answers.jsonl"
        yield Example(found[1], tuple(shlex.split(command)), answers if answers.exists() else None)
    recording = folder / "roman_numerals.jsonl"
    model = ("--model", f"replay:examples/{recording.name}")
    evaluation = ("eval", "examples/eval/tasks.jsonl", *model, "--run-dir", "run")
    yield Example("eval", evaluation, recording)


def corpus(root: Path) -> Iterator[Example]:
    """Yield a check of each module of the mutation corpus, with all mutants."""
    for tests in sorted((root / "bench" / "mutation_corpus").glob("test_*.py")):
        module = tests.name.removeprefix("test_")
        files = (f"mutation_corpus/{module}", f"mutation_corpus/{tests.name}")
        yield Example(f"mutants_{Path(module).stem}", ("check", *files, "--mutants", "all"))


def command(example: Example) -> list[str]:
    words = list(example.words)
    place = words.index("--") if "--" in words else len(words)
    added = ["--json"] if "--run-dir" in words else ["--json", "--run-dir", "run"]
    return words[:place] + added + words[place:]


def environment(checkout: Checkout, folder: Path) -> dict[str, str]:
    """Return the caller's environment without settings and keys, with a long limit for grading."""
    mine = ("GREENLOOP_", "OPENAI_", "ANTHROPIC_", "LANGSMITH_", "LANGCHAIN_", "LANGFUSE_", "OTEL_")
    names = ("MAX_REPAIR_ITERATIONS", "EXECUTION_TIMEOUT_SECONDS", "PYTHONPATH")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(mine) and k not in names}
    return {
        **kept,
        "PYTHONPATH": str(checkout.root),
        "PYTHONDONTWRITEBYTECODE": "1",
        "GREENLOOP_HOME": str(folder / "home"),
        "GREENLOOP_GRADING_SECONDS": "1800",
        "NO_COLOR": "1",
        "COLUMNS": "200",
    }


def run(example: Example, checkout: Checkout, source: Path, kept: Path) -> Result:
    """Run a command in the folder `kept`, or read its earlier result."""
    saved = kept / "result.json"
    if saved.exists():
        before = Result(**json.loads(saved.read_text("utf-8")))
        if before.words == command(example):
            return before
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(source / "examples", kept / "examples")
    if example.words[0] == "check":
        shutil.copytree(source / "bench" / "mutation_corpus", kept / "mutation_corpus")
    result = _run(example, checkout, kept)
    saved.write_text(json.dumps(result.__dict__), "utf-8")
    return result


def _run(example: Example, checkout: Checkout, folder: Path) -> Result:
    started, words = time.monotonic(), command(example)
    try:
        ended = subprocess.run(
            [checkout.python, "-m", "greenloop", *words],
            cwd=folder,
            env=environment(checkout, folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=MAX_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Result(words, None, {}, f"{type(error).__name__}: {error}")
    seconds = time.monotonic() - started
    (folder / "stdout.txt").write_text(ended.stdout, "utf-8")
    (folder / "stderr.txt").write_text(ended.stderr, "utf-8")
    try:
        reports = {"": json.loads(ended.stdout)}
    except ValueError:
        last = (ended.stderr.strip().splitlines() or ["nothing was said"])[-1]
        return Result(
            words, ended.returncode, {}, f"status {ended.returncode}, no JSON: {last}", seconds
        )
    for path in sorted((folder / "run" / "runs").glob("*/report.json")):
        reports[f"run {len(reports)}"] = json.loads(path.read_text("utf-8"))
    saved = folder / "run" / "report.json"
    if saved.exists() and json.loads(saved.read_text("utf-8")) != reports[""]:
        return Result(
            words, ended.returncode, reports, "report.json is not what --json printed", seconds
        )
    text = json.dumps(reports).replace(str(folder), "<folder>")
    return Result(words, ended.returncode, json.loads(text), "", seconds)


# --- reports made comparable


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield key paths and values; empty objects, empty lists and lengths of lists are values."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from flat(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value:
        yield f"{path}.length", len(value)
        for name, item in _name_items(value):
            yield from flat(item, f"{path}[{name}]")
    else:
        yield path, value


def _name_items(items: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Yield items by their `id`, or by their place; a repeated `id` gets a number."""
    seen: Counter[str] = Counter()
    for place, item in enumerate(items):
        name = str(item["id"]) if isinstance(item, dict) and "id" in item else str(place)
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name} ({seen[name]})", item


def comparable(report: Mapping[str, Any], example: Example) -> Flat:
    """Return the values of a report that are compared, by key path."""
    said, found = example.join_answers(), {}
    for key, value in flat(report):
        if _matches(key, IGNORED):
            continue
        if not example.has_usage() and _matches(key, ESTIMATED):
            continue
        found[key] = _value(key, value, said)
    _join_noticed(found)
    seconds = (report.get("evidence") or {}).get("seconds", {})
    if seconds:
        found["evidence.seconds"] = sorted(seconds)
    return found


def _value(key: str, value: Any, said: str) -> Any:
    if _matches(key, PATHS):
        return value and Path(str(value)).name
    bare = re.sub(r"\[\d+\]$", "", key)
    if _matches(bare, TEXTS) and isinstance(value, str):
        of_the_model = bool(value.strip()) and _join(value) in said
        return value if of_the_model else bool(value)
    if isinstance(value, str):
        for pattern, instead in NOISE:
            value = pattern.sub(instead, value)
    if re.fullmatch(r"evidence\.mutation\.tried\[.*\]\.outcome", key):
        return "noticed" if value in NOTICED else value
    return value


def _join_noticed(found: Flat) -> None:
    counts = [found.pop(name) for name in NOTICED_COUNTS if name in found]
    if counts:
        found["evidence.mutation.(killed+timeout+crashed)"] = sum(counts)


def _matches(key: str, patterns: Sequence[str]) -> bool:
    return any(re.fullmatch(pattern, key) for pattern in patterns)


def _join(text: str) -> str:
    return " ".join(text.split())


# --- the comparison


def differences(example: Example, old: Sequence[Result], new: Sequence[Result]) -> Iterator[str]:
    """Yield a line for each value that no run of NEW has in common with any run of OLD."""
    olds, news = _those_that_ran(old), _those_that_ran(new)
    for label, rounds, ran in (("old", old, olds), ("new", new, news)):
        if not ran:
            yield f"{example.name}: cannot run ({label}): {rounds[0].trouble}"
    if not (olds and news):
        return
    statuses = [item.status for item in olds], [item.status for item in news]
    if not set(statuses[0]) & set(statuses[1]):
        yield f"{example.name}: exit status | {statuses[0][0]} | {statuses[1][0]}"
    for name in dict.fromkeys([*olds[0].reports, *news[0].reports]):
        before = [comparable(item.reports.get(name, {}), example) for item in olds]
        after = [comparable(item.reports.get(name, {}), example) for item in news]
        yield from _unequal(f"{example.name} {name}".rstrip(), before, after)
    if example.words[0] == "check":
        yield from other_mutants(example, olds[0], news[0])


def _those_that_ran(rounds: Sequence[Result]) -> list[Result]:
    return [item for item in rounds if not item.trouble]


def _unequal(title: str, old: Sequence[Flat], new: Sequence[Flat]) -> Iterator[str]:
    for key in dict.fromkeys(key for item in (*old, *new) for key in item):
        before = [item.get(key, ABSENT) for item in old]
        after = [item.get(key, ABSENT) for item in new]
        is_added = all(value == ABSENT for value in before) and _matches(key, ADDED)
        if not is_added and not any(value in before for value in after):
            yield f"{title}: {key} | {_short(before[0])} | {_short(after[0])}"


def unsteady(label: str, example: Example, rounds: Sequence[Result]) -> Iterator[str]:
    """Yield a line for each value that differs between the runs of one checkout."""
    for item in rounds:
        if item.trouble:
            yield f"{label} could not run once: {item.trouble}"
    ran = _those_that_ran(rounds)
    for name in ran[0].reports if ran else ():
        flats = [comparable(item.reports.get(name, {}), example) for item in ran]
        for key in dict.fromkeys(key for item in flats for key in item):
            values = [item.get(key, ABSENT) for item in flats]
            if any(value != values[0] for value in values):
                yield f"{label} is not steady: {key} | {' | '.join(map(_short, values))}"


def check_imports(checkout: Checkout) -> None:
    """Raise SystemExit where the interpreter would import another greenloop."""
    code = "import greenloop; print(greenloop.__file__)"
    with tempfile.TemporaryDirectory() as folder:
        there = environment(checkout, Path(folder))
        said = subprocess.run(
            [checkout.python, "-c", code], cwd=folder, env=there, capture_output=True, text=True
        )
    if Path(said.stdout.strip()).parent != checkout.root / "greenloop":
        raise SystemExit(f"{checkout.label}: greenloop is {said.stdout}{said.stderr}")


def mutants(result: Result) -> dict[int, Counter[tuple[str, str, str]]]:
    """Return the mutants of a check by line: operator, before, after."""
    report = result.reports.get("", {})
    found: dict[int, Counter[tuple[str, str, str]]] = {}
    for item in ((report.get("evidence") or {}).get("mutation") or {}).get("tried", ()):
        change = (item["operator"], item["before"], item["after"])
        found.setdefault(item["line"], Counter())[change] += 1
    return found


def other_mutants(example: Example, old: Result, new: Result) -> Iterator[str]:
    before, after = mutants(old), mutants(new)
    if not before:
        yield f"{example.name}: OLD tells of no mutant"
    for line in sorted(before.keys() | after.keys()):
        gone = before.get(line, Counter()) - after.get(line, Counter())
        added = after.get(line, Counter()) - before.get(line, Counter())
        if gone or added:
            yield f"{example.name}: line {line} | {_short(list(gone))} | {_short(list(added))}"


def _short(value: Any) -> str:
    text = value if value == ABSENT else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def compare(chosen: argparse.Namespace, kept: Path) -> int:
    """Run the chosen examples and print their differences; return the number of these."""
    old = Checkout("old", chosen.old.resolve(), chosen.python_old)
    new = Checkout("new", chosen.new.resolve(), chosen.python_new)
    check_imports(old)
    check_imports(new)
    before, count = (chosen.old_results or kept).resolve(), 0
    asked = [*examples(old.root), *(corpus(old.root) if chosen.mutants else ())]
    if chosen.only and (unknown := set(chosen.only) - {item.name for item in asked}):
        raise SystemExit(f"no such example: {', '.join(sorted(unknown))}")
    for example in asked:
        if not chosen.only or example.name in chosen.only:
            count += _compare_one(example, old, new, (before, kept), chosen.tries)
    return count


def _compare_one(
    example: Example, old: Checkout, new: Checkout, kept: tuple[Path, Path], tries: int
) -> int:
    olds: list[Result] = []
    news: list[Result] = []
    lines: list[str] = []
    for number in range(1, tries + 1):
        olds.append(run(example, old, old.root, kept[0] / f"old{number}" / example.name))
        news.append(run(example, new, old.root, kept[1] / f"new{number}" / example.name))
        lines = list(differences(example, olds, news))
        if not lines:
            break
    last = news[-1]
    verdict = last.reports.get("", {}).get("verdict") or "status"
    said = f"{len(lines)} differences" if lines else "equal"
    times = f"{olds[-1].seconds:.0f} s, {last.seconds:.0f} s"
    again = f", {len(news)} tries" if len(news) > 1 else ""
    print(f"{example.name}: {said} ({verdict} {last.status}; {times}{again})")
    notes = [*unsteady("old", example, olds), *unsteady("new", example, news)]
    for line in [*lines[:MAX_LINES], *(f"note: {note}" for note in notes[:MAX_LINES])]:
        print(f"  {line}")
    if len(lines) > MAX_LINES:
        print(f"  … and {len(lines) - MAX_LINES} more")
    sys.stdout.flush()
    return len(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path, metavar="OLD")
    parser.add_argument("new", type=Path, metavar="NEW")
    parser.add_argument("--python-old", default=sys.executable, help="interpreter for OLD")
    parser.add_argument("--python-new", default=sys.executable, help="interpreter for NEW")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these examples alone")
    parser.add_argument("--mutants", action="store_true", help="also bench/mutation_corpus")
    parser.add_argument("--tries", type=int, default=3, help="runs of an example that differs")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep there what was run")
    parser.add_argument("--old-results", type=Path, metavar="DIR", help="a folder of --keep")
    chosen = parser.parse_args()
    if chosen.keep:
        reused = chosen.old_results and chosen.old_results.resolve() == chosen.keep.resolve()
        for path in chosen.keep.glob("*"):
            if re.fullmatch(r"new\d+" if reused else r"(old|new)\d+", path.name):
                shutil.rmtree(path)
        count = compare(chosen, chosen.keep.resolve())
    else:
        with tempfile.TemporaryDirectory() as folder:
            count = compare(chosen, Path(folder))
    print(f"{count} differences" if count else "all reports are equal")
    return 1 if count else 0


if __name__ == "__main__":
    raise SystemExit(main())
