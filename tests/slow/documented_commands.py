"""The commands that README and docs show, and the test that runs each of them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(
    r"^(?:(?:greenloop|python3?|pip|git|bash|export|GREENLOOP_\w+=\S+)\b|\.venv/|\. \S)"
)
_DOCS = sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))
RUN_WHOLE = (
    "docs/tutorial.md",
    "docs/projects.md",
    "docs/sandbox.md",
    "docs/evaluation.md",
)  # `sh`
SHOWING = ("README.md", *_DOCS)

# Run in order in one folder, against a local server with OpenAI's API.
SERVED = (
    'greenloop "Write top_k(xs, k): the k largest numbers, largest first; k < 0 is a ValueError"'
    " -o topk.py",
    "greenloop report",
    "greenloop report --open",
    "greenloop report RUN_DIR --open",
    'greenloop report RUN_DIR --markdown >> "$GITHUB_STEP_SUMMARY"',
    "greenloop report RUN_DIR --junit junit.xml --sarif greenloop.sarif --html page.html",
    "greenloop report --schema",
    "greenloop batch specs -o src",
    "greenloop verify src",
    "greenloop verify src --digests-only",
    "greenloop batch many.jsonl",
    "greenloop doctor --model openai:NAME",
    "greenloop batch specs -o src --model openai:NAME --max-tokens 500000",
)
# Run in the folder of a recorded example with its answers as the model; the documents show the
# output.
RECORDED = {
    'greenloop heal summary.py --input sales.csv --expect "6 sales in 3 regions"'
    " --expect-file totals.csv:rows=3": "heal_sales_summary",
    "greenloop heal text_tools.py --tests test_text_tools.py": "heal_text_tools",
    'greenloop script task --input access.log --expect "requests: "'
    " --expect-file by_hour.csv:rows=24 -o log_report.py --artifacts made": "script_log_report",
}
WEAK = "greenloop check examples/check/parcels.py examples/check/test_parcels.py"
CHECKED = (
    "greenloop check m.py test_m.py",
    "greenloop check src/m.py tests/ --require verified --json",
)
_IN_A_PROJECT = "needs a project with git: tests/integration/cli/test_check_diff.py runs it in one"
_WATCHES = "runs until it is ended: tests/slow/test_watch.py saves files"
_PRICED = "a local server's model has no price, and --max-cost is refused without one"
_A_CLUSTER = "needs a Ray cluster: tests/integration/distributed/test_ray_batch.py starts one, and ends a node of it"
LEFT_OUT = {
    "greenloop init --agent claude": "asks before it writes: tests/integration/cli/test_gate.py",
    'greenloop change "total takes a discount in percent" --in shop -o discount.patch': "needs a"
    " project: tests/integration/cli/test_change.py runs it in one",
    "greenloop check --diff origin/main": _IN_A_PROJECT,
    "greenloop check --diff HEAD~1 --in services/shop --markdown summary.md --require passed": _IN_A_PROJECT,
    "greenloop check --watch doubling.py test_doubling.py": _WATCHES,
    "greenloop check --watch --diff HEAD": _WATCHES,
    "greenloop batch specs -o src --engine ray --run-dir /shared/batch": _A_CLUSTER,
    "greenloop batch specs -o src --engine ray --address auto --run-dir /shared/batch": _A_CLUSTER,
    "greenloop batch specs -o src --engine ray --address 10.0.0.5:6379"
    " --run-dir /shared/batch --jobs 200": _A_CLUSTER,
    "greenloop doctor --sandbox container": "needs podman or docker and an image:"
    " tests/integration/sandbox/backends/container has both where they are installed",
    "greenloop mcp --http --port 8765": "serves until it is ended: tests/integration/integrations/test_mcp.py asks it",
    "python3 -m venv .venv && .venv/bin/pip install -q . && .venv/bin/greenloop"
    " examples/roman_numerals.md --model replay:examples/roman_numerals.jsonl": "all but what sets"
    " it up is run by test_the_recorded_runs_of_the_readme",
    "python3 -m venv .venv && .venv/bin/pip install -q -e '.[test]' && .venv/bin/python -m pytest": ""
    "these are the tests; .ci/run does both from a fresh clone",
    "python3 -m venv .venv": "sets up; tried in a fresh clone",
    "pip install .": "likewise",
    "pip install ./distributions/check": ".ci/run installs it",
    'pip install "git+https://HOST/OWNER/REPO.git"': "stands for the address of the repository",
    'pip install "git+ssh://git@HOST/OWNER/REPO.git"': "likewise",
    "greenloop init": "needs a project: tests/integration/cli/test_init.py",
    "greenloop heal rounding.py --tests test_rounding.py --max-repairs 2 --model replay:answers.jsonl": ""
    "ends with status 1: test_output_that_is_shown_of_other_examples runs it",
    "greenloop resume RUN_DIR --answers RUN_DIR/choices.md": "needs a run with an open choice:"
    " tests/integration/cli/test_choices.py",
    "greenloop resume RUN_DIR --accept-choices": "likewise",
    ". .venv/bin/activate": "of a venv that is not made here",
    "export OPENAI_API_KEY=sk-…": "stands for a key",
    'greenloop "Write top_k(xs, k): the k largest numbers, largest first; k < 0 is a ValueError"'
    " -o topk.py --approve": "asks at a terminal: tests/slow/test_make_approval.py answers",
    "greenloop batch specs -o src --jobs 8 --max-cost 5": _PRICED,
    "greenloop batch specs -o src --max-cost 5 --junit junit.xml --markdown summary.md": _PRICED,
    "export OPENAI_BASE_URL=http://127.0.0.1:8000/v1": "stands for a server's address",
    'greenloop "…" --allow-package polars': "leaves the specification out, and downloads",
    "GREENLOOP_ALLOWED_PACKAGES=numpy==2.1.*,pandas greenloop batch specs -o src": "downloads",
}


def blocks(document: str, language: str) -> list[str]:
    """Return the fenced blocks of a document that have this mark."""
    text = (ROOT / document).read_text("utf-8")
    return [body for found, body in _BLOCK.findall(text) if found == language]


def commands(document: str) -> list[str]:
    """Return the command lines of a document's blocks without comments; blocks run whole excepted."""
    text = (ROOT / document).read_text("utf-8")
    found = (
        line.partition("  #")[0].strip()
        for language, body in _BLOCK.findall(text)
        if language in ("", "text")
        for line in body.splitlines()
    )
    return [line for line in found if _COMMAND.match(line)]


def sample_after(command: str) -> str:
    """Return the output that a document shows below a command; '' if none does."""
    for document in SHOWING:
        text = (ROOT / document).read_text("utf-8")
        after = re.split(rf"^{re.escape(command)}(?:  .*)?$", text, maxsplit=1, flags=re.MULTILINE)[
            1:
        ]
        below = "".join(after).partition("\n```\n")[2].partition("\n## ")[0]
        if found := re.search(r"^```\n(.*?)^```$", below, re.MULTILINE | re.DOTALL):
            return found[1]
    return ""
