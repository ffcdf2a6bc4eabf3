"""Real commits of small libraries as changes: their own code must be accepted, and no other.

    git clone https://github.com/tkem/cachetools clones/cachetools    # likewise the others
    python bench/changes.py --clones clones [--only NAME] [--kind KIND] [--mine]

bench/changes.json holds the ids and digests of commits whose tests fail on the parent's code and pass
on their own; `--mine` finds them anew. Each is played three times by `greenloop change --tests`, with
recorded answers: the commit's own change of the code, which has to be `passed` or better; a change
that does nothing; and the commit's change with another function broken, which locked tests notice.
Printed are verdicts and seconds, the place of the changed files in the map for the commit's
message, and the time of map and baseline against that of the library's suite.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from greenloop.llm.parsing.changes.file_edits import apply_file_edits
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.project.code_map import build_code_map
from greenloop.project.code_map.index import build_index
from greenloop.project.code_map.ranking import rank
from greenloop.project.patch import diff_files
from greenloop.project.runner import ProjectRunner
from greenloop.project.tree import read_tree
from greenloop.records import TestRun
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.testsuite.parser import is_test_path, parse_test_functions

FOUND = Path(__file__).with_suffix(".json")
LIBRARIES = {
    "cachetools": "tkem/cachetools",
    "sqlparse": "andialbrecht/sqlparse",
    "boltons": "mahmoud/boltons",
    "voluptuous": "alecthomas/voluptuous",
    "parse": "r1chardj0n3s/parse",
    "tinydb": "msiemens/tinydb",
    "humanize": "python-humanize/humanize",
    "more-itertools": "more-itertools/more-itertools",
}
MAX_TRIED, MAX_KEPT, MAX_FILES, MAX_LINES, MAX_CONTEXT = 25, 3, 3, 120, 40
PLAY_S, TEST_S = 600, 60


@dataclass(frozen=True)
class Commit:
    """A commit by its ids; the digests are of its patches of code and of tests."""

    library: str
    commit: str
    parent: str
    code_sha256: str
    tests_sha256: str


@dataclass(frozen=True)
class Change:
    """A commit's texts: of the parent, and of the files of code and of tests that it changes."""

    subject: str
    before: Mapping[str, str]
    code: Mapping[str, str]
    tests: Mapping[str, str]

    def digest(self, after: Mapping[str, str]) -> str:
        return hashlib.sha256(diff_files(self.before, after).encode()).hexdigest()


def git(folder: Path, *arguments: str, **variables: str) -> str:
    command = ["git", "-c", "core.hooksPath=/dev/null", "-C", str(folder), *arguments]
    environment = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", **variables}
    ended = subprocess.run(command, capture_output=True, check=True, env=environment)
    return ended.stdout.decode("utf-8", "replace")


def unpack(clone: Path, commit: str, folder: Path) -> Path:
    """Write the files of a commit into a folder that does not exist yet."""
    with tempfile.TemporaryDirectory() as temporary:
        index = str(Path(temporary) / "index")
        git(clone, "read-tree", commit, GIT_INDEX_FILE=index)
        git(clone, "checkout-index", "-a", f"--prefix={folder.absolute()}/", GIT_INDEX_FILE=index)
    return folder


def write(folder: Path, texts: Mapping[str, str]) -> None:
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())


def read_change(clone: Path, commit: str) -> Change | None:
    """Return a commit that changes a few files of code and tests; None for any other."""
    code: dict[str, str] = {}
    tests: dict[str, str] = {}
    before: dict[str, str] = {}
    lines = 0
    for row in git(clone, "show", "--numstat", "--no-renames", "--format=", commit).split("\n"):
        added, _, rest = row.partition("\t")
        removed, _, path = rest.partition("\t")
        if not path.endswith(".py") or path == "setup.py" or path.startswith("docs/"):
            continue
        try:
            text = git(clone, "show", f"{commit}:{path}")
        except subprocess.CalledProcessError:
            return None  # a deleted file
        try:
            before[path] = git(clone, "show", f"{commit}^:{path}")
        except subprocess.CalledProcessError:
            pass
        (tests if is_test_path(path) else code)[path] = text
        lines += 0 if is_test_path(path) else int(added) + int(removed)
    are_tests = all(parse_test_functions(text) for text in tests.values())
    if not code or not tests or not are_tests or len(code) > MAX_FILES or lines > MAX_LINES:
        return None
    subject = git(clone, "show", "-s", "--format=%s", commit).strip()
    return Change(subject, before, code, tests)


def mine(box: Sandbox, clones: Path, library: str) -> Iterator[Commit]:
    clone, kept, tried = clones / library, 0, 0
    for commit in git(clone, "log", "--no-merges", "--format=%H", "-400").split():
        change = read_change(clone, commit)
        if change is None:
            continue
        tried += 1
        if is_red_then_green(box, clone, commit, change):
            kept += 1
            parent = git(clone, "rev-parse", f"{commit}^").strip()
            digests = change.digest(change.code), change.digest(change.tests)
            print(f"{library} {commit[:10]} {change.subject[:70]}", flush=True)
            yield Commit(LIBRARIES[library], commit, parent, *digests)
        if tried >= MAX_TRIED or kept >= MAX_KEPT:
            return


def is_red_then_green(box: Sandbox, clone: Path, commit: str, change: Change) -> bool:
    with tempfile.TemporaryDirectory() as temporary:
        tree = read_tree(unpack(clone, f"{commit}^", Path(temporary) / "tree"))
    runner = ProjectRunner(box, tree)
    red = runner.run(change.tests, list(change.tests), timeout_s=TEST_S)
    if red.ending != "finished" or not red.failing_tests:
        return False
    return is_green(
        runner.run({**change.code, **change.tests}, list(change.tests), timeout_s=TEST_S)
    )


def is_green(run: TestRun) -> bool:
    return run.ending == "finished" and bool(run.tests) and not run.failing_tests


# -- playing


def write_edits(change: Change, after: Mapping[str, str]) -> str:
    """Return an answer of write_change that makes `after`, by SEARCH/REPLACE blocks."""
    parts = []
    for path, text in after.items():
        before = change.before.get(path)
        if before is None or not before.strip():
            parts.append(f"# file: {path}\n````python\n{text}````\n")
            continue
        parts.append(
            next(
                answer
                for context in range(3, MAX_CONTEXT)
                if is_right(answer := write_blocks(path, before, text, context), path, before, text)
            )
        )
    return "\n".join(parts)


def write_blocks(path: str, before: str, after: str, context: int) -> str:
    old, new = (f"{text.rstrip()}\n".splitlines(keepends=True) for text in (before, after))
    blocks = []
    for group in difflib.SequenceMatcher(None, old, new, False).get_grouped_opcodes(context):
        search = "".join(old[group[0][1] : group[-1][2]])
        replace = "".join(new[group[0][3] : group[-1][4]])
        blocks.append(f"<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n")
    return f"# file: {path}\n" + "\n".join(blocks)


def is_right(answer: str, path: str, before: str, after: str) -> bool:
    try:
        made = apply_file_edits(answer, {path: before}, [path])
    except InvalidResponse:
        return False
    return made.keys() == {path} and made[path].rstrip() == after.rstrip()


def write_recording(file: Path, change: Change, after: Mapping[str, str]) -> None:
    """Write the answers that locate, plan and make a change."""
    plan = {
        "summary": change.subject,
        "interface": "def changed(*arguments):\n    ...\n",
        "requirements": [{"id": "R1", "text": change.subject, "quotes": [change.subject]}],
        "fence": sorted(after),
    }
    located = {"files": sorted(set(after) & set(change.before)), "why": "the commit changes them"}
    answers = {
        "locate_change": f"```json\n{json.dumps(located)}\n```",
        "plan_change": f"```json\n{json.dumps(plan)}\n```",
        "write_change": write_edits(change, after),
    }
    lines = (json.dumps({"tool": tool, "answer": answer}) for tool, answer in answers.items())
    file.write_text("\n".join(lines) + "\n", "utf-8")


def play(clone: Path, commit: str, change: Change, after: Mapping[str, str]) -> tuple[str, float]:
    """Return the verdict of a change and its seconds."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        folder = unpack(clone, f"{commit}^", root / "tree")
        write(root / "tests", change.tests)
        write_recording(root / "answers.jsonl", change, after)
        command = [sys.executable, "-m", "greenloop", "change", change.subject, "--in", folder]
        command += ["--model", f"replay:{root / 'answers.jsonl'}", "--json", "--max-repairs", "0"]
        command += ["--run-dir", root / "run", "--timeout", TEST_S]
        for path in change.tests:
            command += ["--tests", root / "tests" / path]
        started = time.monotonic()
        ended = subprocess.run(
            [str(item) for item in command],
            capture_output=True,
            text=True,
            timeout=PLAY_S,
            cwd=root,
        )
        seconds = time.monotonic() - started
    try:
        report = json.loads(ended.stdout)
    except ValueError:
        return f"status {ended.returncode}: {ended.stderr.strip().splitlines()[-1:]}", seconds
    return str(report["verdict"]), seconds


def break_function(change: Change) -> dict[str, str] | None:
    """Return the commit's code with a function broken that older tests call; None without one."""
    known = "\n".join(text for path, text in change.before.items() if is_test_path(path))
    for path, text in change.code.items():
        for node in (item for item in ast.parse(text).body if isinstance(item, ast.FunctionDef)):
            is_old = re.search(
                rf"\n\s*def {node.name}\b|^def {node.name}\b", change.before.get(path, "")
            )
            if is_old and re.search(rf"\b{node.name}\(", known):
                lines = text.splitlines(keepends=True)
                first = node.body[0]
                lines.insert(first.lineno - 1, f"{' ' * first.col_offset}return None\n")
                return {**change.code, path: "".join(lines)}
    return None


def do_nothing(change: Change) -> dict[str, str]:
    """Return the parent's code with a comment."""
    path = next(path for path in sorted(change.code) if change.before.get(path, "").strip())
    return {path: change.before[path].rstrip("\n") + "\n\n# Nothing else.\n"}


KINDS = {"own": lambda change: change.code, "nothing": do_nothing, "breaking": break_function}


# -- map and baseline


def measure(box: Sandbox, clone: Path, commit: str, change: Change) -> str:
    """Return the place of the changed files in the map, and the times of map, suite and baseline."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = unpack(clone, f"{commit}^", Path(temporary) / "tree")
        tree = read_tree(folder)
        started = time.monotonic()
        ranking = rank(build_index(tree.texts), change.subject)
        build_code_map(tree.texts, change.subject, 5000)
        mapped = time.monotonic()
        runner = ProjectRunner(box, tree)
        runner.run({})
        ran = time.monotonic()
        runner.measure_baseline()
        baseline = time.monotonic() - ran
    modules = sorted(
        (p for p in tree.texts if not is_test_path(p)), key=lambda p: -ranking.modules[p]
    )
    places = [modules.index(path) + 1 for path in change.code if path in modules]
    limit = 3 * (ran - mapped) + 5
    figures = f"map {mapped - started:.1f} s, suite {ran - mapped:.1f} s, baseline {baseline:.1f} s"
    within = "within" if mapped - started + baseline <= limit else "ABOVE"
    return f"files {places} of {len(modules)}; {figures} ({within} {limit:.0f} s)"


def play_all(box: Sandbox, clones: Path, commits: list[Commit], kind: str) -> Iterator[bool]:
    """Print what becomes of each commit, and yield whether that is right."""
    for item in commits:
        name = item.library.partition("/")[2]
        change = read_change(clones / name, item.commit) if (clones / name).is_dir() else None
        if change is None or change.digest(change.code) != item.code_sha256:
            print(f"{name} {item.commit[:10]}: not in the clones, or another content")
            continue
        print(f"{name} {item.commit[:10]} {change.subject[:60]}")
        print("    ", measure(box, clones / name, item.commit, change), flush=True)
        for name_of_kind, make in KINDS.items():
            after = make(change) if kind in ("", name_of_kind) else None
            if after is not None:
                verdict, seconds = play(clones / name, item.commit, change, after)
                is_right = (verdict in ("passed", "verified")) is (name_of_kind == "own")
                note = "" if is_right else "  WRONG"
                print(f"     {name_of_kind}: {verdict}, {seconds:.0f} s{note}", flush=True)
                yield is_right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clones", type=Path, help="the folder of the libraries' clones")
    parser.add_argument("--only", default="", help="the name of one library")
    parser.add_argument("--kind", default="", choices=KINDS, help="play one kind of change alone")
    parser.add_argument("--mine", action="store_true", help="find the commits anew")
    options = parser.parse_args()
    if options.clones is None or not options.clones.is_dir():
        print(
            "no clones: nothing is played; git clone the libraries and name their folder: --clones"
        )
        return 0
    names = [n for n in LIBRARIES if options.only in ("", n) and (options.clones / n).is_dir()]
    known = (
        [Commit(**item) for item in json.loads(FOUND.read_text("utf-8"))] if FOUND.exists() else []
    )
    with open_sandbox(Settings.load(timeout_s=TEST_S)) as box:
        if options.mine:
            rest = [item for item in known if item.library not in map(LIBRARIES.get, names)]
            found = [commit for name in names for commit in mine(box, options.clones, name)]
            text = json.dumps([asdict(item) for item in (*rest, *found)], indent=1)
            FOUND.write_text(f"{text}\n", "utf-8")
            return 0
        commits = [item for item in known if item.library in map(LIBRARIES.get, names)]
        results = list(play_all(box, options.clones, commits, options.kind))
    print(f"{sum(results)} of {len(results)} right, {len(commits)} commits")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
