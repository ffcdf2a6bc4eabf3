"""Processes that are stopped: by a signal, by kill -9 at every call, by a closed pipe."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from greenloop.prompts import Message, Prompt
from tests.support.change_responses import (
    GREEN_TEST,
    PEER,
    REPAIRED,
    TESTS,
    WISH,
    WRONG_DISCOUNT,
    answer_with_tests,
    change_answers,
    copy_shop,
)
from tests.support.model_responses import (
    GOOD_CODE,
    GOOD_TESTS,
    SPECIFICATION,
    WRONG_CODE,
    WRONG_TEST,
    answers,
    fence,
    suite_answer,
)
from tests.support.openai_server import OpenAIServer, Reply, tool_of

_PATIENCE_S = 60
# Every tool is used: a finding, a repair, a dispute and its judgement.
SCRIPT = answers(
    generate_code=[fence(WRONG_CODE)],
    generate_tests=[suite_answer(GOOD_TESTS + WRONG_TEST)],
    review_code=["- L3 error: the order is wrong", "LGTM"],
    repair_code=[
        fence(WRONG_CODE.replace("sorted(xs)", "sorted(xs, reverse=True)")),
        "DISPUTE test_wrong: R1 demands [3]\n" + fence(GOOD_CODE),
    ],
    judge_test=[fence('{"wrong": "test", "because": "R1"}', "json")],
)


REPORT = (
    "import csv\nrows = list(csv.DictReader(open('in.csv')))\nprint(rows[0]['{}'], len(rows))\n"
)
# A wrong check is judged; the script is repaired.
FOR_A_TASK = {
    "propose_checks": [fence('[{"check": "stdout", "contains": "seven"}]', "json")],
    "write_script": [fence(REPORT.format("region"))],
    "repair_script": [
        fence(REPORT.format("Region")),
        "DISPUTE prints 'seven': nothing says so",
    ],
    "judge_check": [fence('{"wrong": "test", "because": "nothing says so"}', "json")],
}
FOR_A_SCRIPT = {
    "repair_script": [fence(REPORT.format("area")), fence(REPORT.format("Region"))],
}
# The first tests prove nothing, and the first code is wrong.
FOR_A_WISH = change_answers(
    write_change_tests=[answer_with_tests(TESTS + GREEN_TEST), answer_with_tests(TESTS)],
    write_change=[WRONG_DISCOUNT],
    repair_change=[REPAIRED],
    write_peer=[PEER],
)
WAYS = {
    "make": (["make", SPECIFICATION], SCRIPT, 8),
    "script": (["script", "Print the first region.", "--input", "in.csv"], FOR_A_TASK, 5),
    "change": (["change", WISH, "--in", "shop"], FOR_A_WISH, 8),
    "heal": (["heal", "old.py", "--input", "in.csv", "--yes"], FOR_A_SCRIPT, 2),
}


class Patient:
    """Answers by the prompt's position in its tool's script; delays the call that is to be cut off.

    The same prompt always gets the same answer, as from a deterministic server.
    `paid_twice` are the calls that were made although their answer was in the run's log.
    """

    def __init__(self, log: Path, script: Mapping[str, Sequence[Any]] = SCRIPT) -> None:
        self.script = script
        self.answered: list[str] = []
        self.paid_twice: list[str] = []
        self.hold_after: int | None = None
        self.held = threading.Event()
        self._log, self._given, self._lock = log, dict[str, str](), threading.Lock()

    def __call__(self, request: dict[str, Any]) -> Reply:
        tool, prompt = tool_of(request), prompt_of(request)
        with self._lock:
            if prompt.sha256 in self._read_log():
                self.paid_twice.append(tool)
            if self.hold_after is not None and len(self._given) >= self.hold_after:
                self.held.set()
                return Reply(status=500, delay_s=_PATIENCE_S)
            if prompt.sha256 not in self._given:
                self._given[prompt.sha256] = self.script[tool][self.answered.count(tool)]
                self.answered.append(tool)
            return Reply(self._given[prompt.sha256])

    def has_logged(self, count: int) -> bool:
        """Wait until the run's log has this many answers."""
        until = time.monotonic() + _PATIENCE_S
        while len(self._read_log()) < count and time.monotonic() < until:
            time.sleep(0.02)
        return len(self._read_log()) >= count

    def _read_log(self) -> set[str]:
        lines = self._log.read_text("utf-8").split("\n")[:-1] if self._log.exists() else []
        return {json.loads(line)["prompt_sha256"] for line in lines}


def prompt_of(request: dict[str, Any]) -> Prompt:
    """Return the prompt of a request."""
    messages = (Message(item["role"], item["content"]) for item in request["messages"])
    return Prompt(tool_of(request), tuple(messages))


@pytest.fixture
def patient() -> Iterator[tuple[Patient, OpenAIServer]]:
    respond = Patient(Path("run/answers.jsonl"))
    with OpenAIServer(respond) as server:
        yield respond, server


def start(server: OpenAIServer, *arguments: str) -> subprocess.Popen[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "GREENLOOP_MUTANTS": "0",
        "HOME": str(Path.cwd()),
        "OPENAI_BASE_URL": server.url,
        "OPENAI_API_KEY": "sk-test",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "greenloop", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=_PATIENCE_S)
    return process.returncode, out, err


def essence(report: dict[str, Any]) -> dict[str, Any]:
    """Return what must be equal however often the run was cut off."""
    kept = {
        key: report[key] for key in ("verdict", "final_code", "test_code", "iterations", "contract")
    }
    kept["attempts"] = [(item["kind"], item["code_sha256"]) for item in report["attempts"]]
    kept["calls"] = report["usage"]["calls"]
    return kept


@pytest.mark.parametrize("way", WAYS)
def test_kill_9_at_every_call_then_resume_pays_for_nothing_twice(
    way: str, patient: tuple[Patient, OpenAIServer]
) -> None:
    respond, server = patient
    asked, script, count = WAYS[way]
    respond.script = script
    Path("in.csv").write_text("Region,Amount\nNorth,12\nSouth,7\n")
    Path("old.py").write_text(REPORT.format("region"))
    copy_shop(Path.cwd())
    command = [*asked, "--run-dir", "run", "--json"]
    for calls in range(count):
        respond.hold_after = calls
        respond.held.clear()
        process = start(server, *command)
        assert respond.held.wait(_PATIENCE_S)
        process.send_signal(signal.SIGKILL)
        finish(process)
        command = ["resume", "run", "--json"]
    respond.hold_after = None
    status, out, _ = finish(start(server, *command))
    assert status == 0
    assert respond.paid_twice == []
    assert sorted(respond.answered) == sorted(tool for tool, items in script.items() for _ in items)
    Path("old.py").write_text(REPORT.format("region"))
    uncut = finish(start(server, *asked, "--run-dir", "uncut", "--json"))
    assert essence(json.loads(out)) == essence(json.loads(uncut[1]))


def test_an_interrupt_names_the_resume_command(patient: tuple[Patient, OpenAIServer]) -> None:
    respond, server = patient
    respond.hold_after = 3
    process = start(server, "make", SPECIFICATION, "--run-dir", "run")
    assert respond.held.wait(_PATIENCE_S)
    assert respond.has_logged(
        3
    )  # code and tests are requested concurrently: one may still be in flight
    process.send_signal(signal.SIGINT)
    status, _, err = finish(process)
    assert status == 130
    assert f"greenloop resume {Path('run').absolute()}" in err
    assert json.loads(Path("run/report.json").read_text())["final_code"] == WRONG_CODE
    respond.hold_after = None
    status, _, err = finish(start(server, "resume", "run"))
    assert status == 0
    assert "3 answers are taken from the log" in err


def test_a_run_is_locked_against_a_second_process(patient: tuple[Patient, OpenAIServer]) -> None:
    respond, server = patient
    respond.hold_after = 1
    process = start(server, "make", SPECIFICATION, "--run-dir", "run")
    log = Path("run/answers.jsonl")
    for _ in range(600):
        if log.exists():
            break
        threading.Event().wait(0.1)
    status, _, err = finish(start(server, "resume", "run"))
    process.send_signal(signal.SIGKILL)
    finish(process)
    assert status == 2
    assert "another process is working on the run" in err


def test_an_existing_run_directory_is_not_written_over(
    patient: tuple[Patient, OpenAIServer],
) -> None:
    _, server = patient
    assert finish(start(server, "make", SPECIFICATION, "--run-dir", "run", "--quiet"))[0] == 0
    before = Path("run/answers.jsonl").read_bytes()
    status, _, err = finish(start(server, "make", "Another one", "--run-dir", "run"))
    assert status == 2
    assert "contains a run already" in err
    assert Path("run/answers.jsonl").read_bytes() == before


def test_specification_from_standard_input_and_the_root_program(
    patient: tuple[Patient, OpenAIServer],
) -> None:
    _, server = patient
    root = Path(__file__).parents[2]
    environment = {
        "PATH": os.environ["PATH"],
        "GREENLOOP_MUTANTS": "0",
        "OPENAI_BASE_URL": server.url,
        "OPENAI_API_KEY": "sk-test",
    }
    ended = subprocess.run(
        [sys.executable, str(root / "cli.py"), "-", "--json", "--quiet"],
        input=SPECIFICATION,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert json.loads(ended.stdout)["specification"] == SPECIFICATION


def test_help_loads_nothing_heavy() -> None:
    """The cost of `--help` is what it imports; a timing would measure the machine."""
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom greenloop.cli.main import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "heavy = {'langchain', 'langchain_core', 'langchain_openai', 'openai', 'pydantic', 'jinja2',"
        " 'black', 'pytest', 'genai_prices', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
