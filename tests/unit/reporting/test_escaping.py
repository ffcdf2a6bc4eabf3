"""Text of tests and code in every output: no control characters, bidi overrides or CI commands."""

import io
import json
import re
from typing import Any

import pytest

from greenloop import events as e
from greenloop.cli.finish import print_report
from greenloop.cli.options.shared import DisplayOptions
from greenloop.records import Failure, Report
from greenloop.reporting.escaping import escape_invisible, sanitize_line
from greenloop.reporting.evidence.text import render_grade
from greenloop.reporting.formats.junit import render_junit
from greenloop.reporting.formats.markdown import render_markdown
from greenloop.reporting.formats.sarif import render_sarif
from greenloop.reporting.html.page import render_report_html
from greenloop.reporting.progress.renderer import PlainProgress
from tests.support.reports import build_make_report

COMMANDS = ("::error file=a.py::x", "::stop-commands::t", "##[add-mask]x", "##vso[task.x]y")
HOSTILE = "\n".join(("a\u202eb\x1b[31m\x9b\x00\u2028", *COMMANDS, "  ::set-env name=a::b"))
HOSTILE_LONG = f"{'x' * 61} ::error::after a break {'y' * 78}::error::in a long word"
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2066-\u2069]")
_COMMAND = re.compile(r"^\s*::|##\[|##vso\[|##teamcity\[", re.M)


def hostile_report() -> Report:
    failure = Failure(
        test=f"test_m.py::test_a[{HOSTILE}]",
        phase="call",
        exception=HOSTILE,
        message=HOSTILE_LONG,
        output=HOSTILE,
    )
    texts: dict[str, Any] = {"reasons": (HOSTILE, HOSTILE_LONG), "test_output": HOSTILE}
    return build_make_report(failures=(failure,), specification=HOSTILE, module="", **texts)


def progress_text(report: Report) -> str:
    stream = io.StringIO()
    PlainProgress(stream)(e.Notice("\n".join(report.reasons)))
    return stream.getvalue()


OUTPUTS = {
    "grade": render_grade,
    "progress": progress_text,
    "json": lambda report: report.model_dump_json(indent=1),
    "markdown": render_markdown,
    "html": render_report_html,
    "junit": render_junit,
    "sarif": render_sarif,
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_hostile_text_steers_no_output(name: str) -> None:
    text = OUTPUTS[name](hostile_report())
    assert "after a break" in text or "set-env" in text
    assert not _STEERING.findall(text)
    assert not _COMMAND.findall(text)


@pytest.mark.parametrize("command", ["make", "check", "heal", "script"])
def test_standard_output_in_a_job_of_github_is_not_steered(
    command: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("greenloop.cli.finish.escape_displayed", escape_invisible)
    report = hostile_report().model_copy(
        update={"command": command, "final_code": HOSTILE, "original": "x = 1\n"}
    )
    print_report(report, DisplayOptions())
    shown = "".join(capfd.readouterr())
    assert "name=a" in shown
    assert not _STEERING.findall(shown)
    assert not _COMMAND.findall(shown)


def test_code_is_printed_as_it_is_where_it_may_go_to_a_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = 'FAMILY = "\U0001f468\u200d\U0001f469"\n'
    print_report(build_make_report(final_code=code, command="make"), DisplayOptions())
    assert capsys.readouterr().out.startswith(code)


def test_json_keeps_its_values() -> None:
    report = hostile_report()
    assert Report.model_validate_json(report.model_dump_json()) == report
    assert json.loads(report.model_dump_json())["test_output"] == HOSTILE
    plain = build_make_report(reasons=("é… \U0001f600",)).model_dump_json()
    assert "é… \U0001f600" in plain


def test_ordinary_text_stays() -> None:
    text = "test_m.py::test_a\n# heading ## [link] é…\n\tindented"
    assert escape_invisible(text) == text
    assert sanitize_line("test_m.py::TestA::test_b") == "test_m.py::TestA::test_b"
