"""Tokens of two checkouts on the recorded examples that both have, by tool.

    python bench/tokens.py OLD NEW [--only NAME …]

Each checkout runs `make` on its own `examples/NAME.md` with its own recording, a process at a time, in
a temporary folder. Recorded usage is left out, so that both count alike: characters of prompts and
answers, divided by four. Texts have to be equal, and requirements and tests as many, within a tenth;
an example for which that does not hold is marked and stays out of the sums.

Printed are the tokens by tool, old and new, and their ratio without the second implementation
(`write_peer`, `judge_difference`) and with it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PEER = frozenset({"write_peer", "judge_difference"})
TOLERANCE = 0.1


@dataclass
class Spent:
    """Tokens by tool of one run, and how large its contract and suite are."""

    tokens: Counter[str] = field(default_factory=Counter)
    requirements: int = 0
    tests: int = 0
    verdict: str = ""

    @property
    def without_peer(self) -> int:
        return sum(n for tool, n in self.tokens.items() if tool not in PEER)


def run_example(checkout: Path, name: str) -> Spent:
    """Replay a recorded example, without its recorded usage."""
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "recording.jsonl"
        lines = (checkout / "examples" / f"{name}.jsonl").read_text("utf-8").splitlines()
        entries = [json.loads(line) for line in lines if line.strip()]
        for entry in entries:
            entry.pop("usage", None)
        recording.write_text("".join(json.dumps(item) + "\n" for item in entries), "utf-8")
        specification = checkout / "examples" / f"{name}.md"
        command = [sys.executable, "-m", "greenloop", "make", str(specification), "--json"]
        command += ["--model", f"replay:{recording}", "--run-dir", f"{folder}/run"]
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GREENLOOP_")}
        environment = {**kept, "PYTHONPATH": str(checkout)}
        ended = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if not ended.stdout.strip():
            raise SystemExit(f"{checkout}: {name}: {ended.stderr.strip()[-500:]}")
        return read_report(json.loads(ended.stdout))


def read_report(report: dict[str, object]) -> Spent:
    usage, contract, tests = report["usage"], report["contract"], report["tests"]
    assert isinstance(usage, dict)
    assert isinstance(contract, dict)
    assert isinstance(tests, list)
    by_tool = {
        tool: item["input_tokens"] + item["output_tokens"]
        for tool, item in usage["by_tool"].items()
    }
    origins = ("generated", "hardening")
    generated = sum(item["origin"] in origins for item in tests)
    return Spent(Counter(by_tool), len(contract["requirements"]), generated, str(report["verdict"]))


def is_alike(old: int, new: int) -> bool:
    return abs(new - old) <= max(1, TOLERANCE * old)


def find_examples(old: Path, new: Path) -> Iterator[str]:
    for path in sorted((new / "examples").glob("*.jsonl")):
        others = [
            root / "examples" / f"{path.stem}{end}" for root in (old, new) for end in (".md",)
        ]
        if all(item.is_file() for item in (*others, old / "examples" / path.name)):
            yield path.stem


def is_same_text(old: Path, new: Path, name: str) -> bool:
    one, other = ((root / "examples" / f"{name}.md").read_text("utf-8") for root in (old, new))
    return one.strip() == other.strip()


def format_ratio(old: int, new: int) -> str:
    return f"{old:>8,} {new:>8,} {new / old - 1:>+7.0%}" if old else f"{old:>8,} {new:>8,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--only", nargs="*")
    chosen = parser.parse_args()
    old_root, new_root = chosen.old.resolve(), chosen.new.resolve()
    sums, counted = [Spent(), Spent()], 0
    print(f"{'':34}{'old':>8} {'new':>8}")
    for name in find_examples(old_root, new_root):
        if chosen.only and name not in chosen.only:
            continue
        old, new = run_example(old_root, name), run_example(new_root, name)
        sizes = (
            f"requirements {old.requirements} → {new.requirements}, tests {old.tests} → {new.tests}"
        )
        comparable = is_alike(old.requirements, new.requirements) and is_alike(old.tests, new.tests)
        if not is_same_text(old_root, new_root, name):
            comparable, sizes = False, f"another text; {sizes}"
        mark = "" if comparable else ", not counted"
        print(
            f"{name:34}{format_ratio(old.without_peer, new.without_peer)}  {sizes}{mark}",
            flush=True,
        )
        if comparable:
            counted += 1
            for total, item in zip(sums, (old, new), strict=True):
                total.tokens += item.tokens
    old, new = sums
    print(f"\n{counted} counted examples, tokens by tool")
    for tool in sorted({*old.tokens, *new.tokens}):
        print(f"{tool:34}{format_ratio(old.tokens[tool], new.tokens[tool])}")
    print(f"{'without second implementation':34}{format_ratio(old.without_peer, new.without_peer)}")
    print(
        f"{'with second implementation':34}{format_ratio(old.tokens.total(), new.tokens.total())}"
    )


if __name__ == "__main__":
    main()
