"""JUnit, SARIF, JSON Schema and Markdown, checked with validators for every kind of report."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import jsonschema
import pytest
import xmlschema
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from greenloop.records import Report
from greenloop.records.report import meets_requirement
from greenloop.reporting.escaping import escape_invisible
from greenloop.reporting.formats.junit import render_junit
from greenloop.reporting.formats.markdown import code_span, escape_markdown, render_markdown
from greenloop.reporting.formats.sarif import render_sarif
from greenloop.reporting.loader import build_report_schema
from tests.support.reports import (
    HOSTILE,
    all_kinds,
    build_check_report,
    build_make_report,
    build_refused_report,
)

SCHEMAS = Path(__file__).parent / "schemas"
REPORTS = all_kinds()
SMALL = [kind for kind in REPORTS if kind != "huge"]  # validators are slow
_ALLOWED_TAGS = {"details", "summary", "/details", "/summary"}


@pytest.fixture(scope="module")
def junit() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd")


@pytest.fixture(scope="module")
def sarif() -> Any:
    schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text("utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


@pytest.mark.parametrize("kind", SMALL)
def test_junit_is_valid(kind: str, junit: xmlschema.XMLSchema) -> None:
    text = render_junit(REPORTS[kind])
    junit.validate(Xml.fromstring(text.encode()))
    suites = Xml.fromstring(text.encode())
    assert suites.get("tests") == str(len(REPORTS[kind].tests) + 1)
    # Readers show a failure exactly where the exit status is 1, also where no test was run.
    failing = suites.findall(".//failure") + suites.findall(".//error")
    assert bool(failing) == (not meets_requirement(REPORTS[kind], None))


def test_junit_says_what_is_short_of_the_required_verdict() -> None:
    report = build_make_report(verdict="passed", reasons=("mutants: 4 of 9 noticed",))
    assert "<failure" not in render_junit(report, "passed")
    failure = Xml.fromstring(render_junit(report, "verified").encode()).find(
        ".//testcase[@name='verdict']/failure"
    )
    assert failure is not None
    assert failure.get("message") == "passed; mutants: 4 of 9 noticed"
    assert "no test with k = 0" in (failure.text or "")


def test_junit_has_failures_and_skips_inactive_tests() -> None:
    failed = Xml.fromstring(render_junit(build_check_report()).encode()).find(
        ".//testcase[@name='test_negative']"
    )
    assert failed is not None
    assert failed.attrib | {"time": ""} == {
        "classname": "test_topk",
        "name": "test_negative",
        "time": "",
    }
    element = failed.find("failure")
    assert element is not None
    assert "test_topk.py:19: in test_negative" in (element.text or "")
    suite = Xml.fromstring(render_junit(build_make_report()).encode())
    skipped = suite.find(".//testcase[@name='test_wrong']/skipped")
    assert skipped is not None
    assert skipped.get("message") == "dropped: contradicts R1"
    nested = suite.find(".//testcase[@name='test_negative[-1]']")
    assert nested is not None
    assert nested.get("classname") == "test_topk.TestK"


@pytest.mark.parametrize("kind", REPORTS)
def test_sarif_is_valid(kind: str, sarif: Any) -> None:
    log = json.loads(render_sarif(REPORTS[kind], ungraded={"src/a b.py": "no tests"}))
    sarif.validate(log)
    place = log["runs"][0]["results"][-1]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "src/a%20b.py"}}


def test_sarif_has_open_findings_and_survivors() -> None:
    (run,) = json.loads(render_sarif(build_make_report()))["runs"]
    found = [
        (item["ruleId"], item["level"], item["locations"][0]["physicalLocation"].get("region"))
        for item in run["results"]
    ]
    assert found == [
        ("greenloop/surviving-mutant", "warning", {"startLine": 3}),
        ("greenloop/review", "note", None),  # the resolved one is left out
        ("greenloop/integrity", "error", {"startLine": 5}),
    ]
    assert "no test with k = 0" in run["results"][0]["message"]["text"]
    assert run["invocations"] == [{"executionSuccessful": True}]
    (broken,) = json.loads(render_sarif(build_refused_report()))["runs"]
    assert broken["invocations"] == [{"executionSuccessful": False}]


def test_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(build_report_schema())


@pytest.mark.parametrize("kind", SMALL)
def test_report_matches_its_schema(kind: str) -> None:
    validator = jsonschema.Draft202012Validator(build_report_schema())
    content = json.loads(REPORTS[kind].model_dump_json())
    validator.validate(content)
    validator.validate({**content, "a_later_key": 1})
    assert not validator.is_valid({**content, "verdict": "fine"})
    assert not validator.is_valid({key: content[key] for key in content if key != "verdict"})


def inline(text: str) -> list[Any]:
    """Return all Markdown tokens, including inline ones."""
    found: list[Any] = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        found += [token, *(token.children or ())]
    return found


@pytest.mark.parametrize("kind", REPORTS)
def test_markdown_is_short_and_has_only_known_html(kind: str) -> None:
    text = render_markdown(REPORTS[kind])
    assert len(text) <= 60_000
    tokens = inline(text)
    assert not {"link_open", "image", "fence", "html_inline"} & {token.type for token in tokens}
    html = "".join(token.content for token in tokens if token.type == "html_block")
    tags = [part.partition(">")[0] for part in html.split("<")[1:]]
    assert set(tags) <= _ALLOWED_TAGS
    assert tags.count("details") == tags.count("/details")


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60) | st.text(alphabet="`*_[]()<>!#|\\&~-+=.1@:/ \n", max_size=40))
@pytest.mark.slow
def test_any_text_is_escaped_in_markdown(text: str) -> None:
    escape_invisible(text).encode()
    kinds = {token.type for token in inline(f"- **R1** {escape_markdown(text)}")}
    assert kinds <= {
        "bullet_list_open",
        "list_item_open",
        "paragraph_open",
        "inline",
        "strong_open",
        "strong_close",
        "text",
        "text_special",
        "paragraph_close",
        "list_item_close",
        "bullet_list_close",
    }
    (span,) = [token for token in inline(f"x {code_span(text)} y") if token.type == "code_inline"]
    assert span.content.split() == escape_invisible(text).replace("|", "¦").split()


@settings(max_examples=30, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=40))
def test_any_text_is_valid_xml(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    tests = build_make_report().tests
    report: Report = build_make_report(
        tests=(tests[0].model_copy(update={"id": text}), *tests[1:]), reasons=(text,)
    )
    Xml.fromstring(render_junit(report).encode())
    json.loads(render_sarif(report))


def test_markdown_has_no_mention_or_link() -> None:
    text = escape_markdown(HOSTILE)
    assert "@someone" not in text
    assert "https:" not in text
    assert "\x1b" not in text
