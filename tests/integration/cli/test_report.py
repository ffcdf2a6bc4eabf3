"""`greenloop report`: a saved report, shown and written in other forms."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from greenloop.cli.main import app
from greenloop.cli.usage import expand_bare_options
from tests.support.reports import build_make_report, build_refused_report

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `greenloop report` beside a run directory `one`, without a screen."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    Path("one").mkdir()
    Path("one/report.json").write_text(build_make_report().model_dump_json(), "utf-8")

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            app(["report", *arguments], prog_name="greenloop")
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return call


def test_every_form_at_once_goes_into_its_file(run: Run) -> None:
    files = ("--junit", "a/j.xml", "--sarif", "s.sarif", "--markdown", "m.md", "--html", "h.html")
    assert run("one", *files) == (0, "", "")
    assert Xml.parse("a/j.xml").getroot().tag == "testsuites"
    assert json.loads(Path("s.sarif").read_text("utf-8"))["version"] == "2.1.0"
    assert Path("m.md").read_text("utf-8").startswith("## ○ passed: `topk`")
    assert Path("h.html").read_text("utf-8").startswith("<!doctype html>")


def test_bare_options_stand_for_the_usual_places(run: Run) -> None:
    status, out, err = run("--html", "one", "--markdown")
    assert (status, err) == (0, "greenloop: wrote one/report.html\n")
    assert out.startswith("## ○ passed")
    assert Path("one/report.html").is_file()
    assert expand_bare_options(["--html", "--markdown", "-"]) == ["--html=", "--markdown", "-"]
    assert expand_bare_options(["one", "--html", "page.html"]) == ["one", "--html", "page.html"]


def test_no_output_replaces_the_report_that_it_is_made_of(run: Run) -> None:
    Path("one/run.json").touch()
    before = Path("one/report.json").read_text("utf-8")
    assert run("--markdown", "one/report.json")[1].startswith("## ○ passed")
    assert run("--html", "one/report.json")[:2] == (0, "")
    status, _, err = run("one", "--junit", "one/report.json")
    assert (status, "one/report.json is a file of the run itself" in err) == (2, True)
    assert Path("one/report.json").read_text("utf-8") == before


def test_a_dash_is_standard_output(run: Run) -> None:
    for option, start in (("--junit", "<?xml"), ("--sarif", "{"), ("--html", "<!doctype")):
        status, out, _ = run("one", option, "-")
        assert (status, out.startswith(start)) == (0, True)


def test_open_says_where_the_page_is_where_there_is_no_screen(run: Run) -> None:
    status, out, _ = run("one", "--open")
    assert (status, out) == (0, f"{Path('one/report.html').absolute()}\n")
    assert Path("one/report.html").is_file()


def test_the_schema_needs_no_run(run: Run) -> None:
    status, out, _ = run("--schema")
    assert status == 0
    assert json.loads(out)["$schema"].endswith("2020-12/schema")


def test_a_refused_run_has_a_report_too(run: Run) -> None:
    Path("one/report.json").write_text(build_refused_report().model_dump_json(), "utf-8")
    status, out, _ = run("one")
    assert status == 0
    assert "SettingsError" in out
    assert run("one/report.json", "--markdown")[0] == 0


@pytest.mark.parametrize("text", ["{}", "no JSON", None])
def test_what_is_no_report_is_one_line_and_status_2(run: Run, text: str | None) -> None:
    if text is None:
        Path("one/report.json").unlink()
    else:
        Path("one/report.json").write_text(text, "utf-8")
    status, out, err = run("one", "--html", "x.html")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert not Path("x.html").exists()


def test_a_place_that_cannot_be_written_is_named(run: Run) -> None:
    Path("file").write_text("")
    status, _, err = run("one", "--junit", "file/j.xml")
    assert (status, "file/j.xml cannot be written" in err) == (2, True)
