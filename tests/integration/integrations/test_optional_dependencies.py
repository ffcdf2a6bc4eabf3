"""Extras that are not installed, and environments that ask for nothing."""

import subprocess
import sys

import pytest

from greenloop import events as e
from greenloop.cli.main import app
from greenloop.tracing.setup import is_content_traced, is_enabled
from greenloop.versions import format_install_command
from tests.integration.integrations.conftest import collect_events
from tests.support.programs import read_table


def test_without_the_sdk_one_line_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in list(sys.modules):
        if (
            name.partition(".")[0] in ("mcp", "mcp_types")
            or name == "greenloop.integrations.mcp.tools"
        ):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(SystemExit) as ended:
        app(["mcp"], prog_name="greenloop")
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert said.err.count("\n") == 1
    assert format_install_command("mcp") in said.err


def test_a_package_that_is_missing_is_said_once_and_the_run_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.delitem(sys.modules, "greenloop.tracing.otel", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    told = collect_events(e.CallStarted("generate_code"))
    assert isinstance(told[0], e.Notice)
    assert format_install_command("otel") in told[0].text
    assert told[1:] == [e.CallStarted("generate_code")]


def test_nothing_is_imported_where_nothing_is_asked_for() -> None:
    code = (
        "from greenloop.tracing.setup import open_tracing; open_tracing(); import sys;"
        "print([name for name in ('opentelemetry', 'langsmith') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


@pytest.mark.parametrize(("environment", "wanted"), read_table(__file__, "WANTED"))
def test_the_environment_says_what_is_wanted(environment: dict[str, str], wanted: bool) -> None:
    assert is_enabled(environment) == wanted


def test_content_is_traced_only_if_it_is_switched_on() -> None:
    said = {value: is_content_traced({"GREENLOOP_TRACE_CONTENT": value}) for value in ("0", "1")}
    assert said == {"0": False, "1": True}
