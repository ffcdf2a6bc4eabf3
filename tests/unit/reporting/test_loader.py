"""Saved reports are read, or rejected with one line."""

import json
import re
from pathlib import Path

import pytest

from greenloop.errors import InputError
from greenloop.reporting.loader import read_report
from tests.support.programs import read_table
from tests.support.reports import build_make_report, older


def save(folder: Path, text: str | bytes) -> Path:
    content = text if isinstance(text, bytes) else text.encode()
    (folder / "report.json").write_bytes(content)
    return folder


def test_a_report_is_read_as_it_was_saved(tmp_path: Path) -> None:
    for report in (build_make_report(), older()):
        assert read_report(save(tmp_path, report.model_dump_json())) == report
    assert read_report(tmp_path / "report.json") == older()


def test_keys_of_a_later_version_are_ignored(tmp_path: Path) -> None:
    told = json.loads(build_make_report().model_dump_json())
    told["later"] = 1
    told["attempts"][0]["later"] = {"a": [1]}
    told["evidence"]["mutation"]["survived"][0]["later"] = None
    assert read_report(save(tmp_path, json.dumps(told))) == build_make_report()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not JSON"),
        (b"\xff\xfe\x00", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", "not a report of greenloop"),
        ('{"verdict": "passed"}', "not a report of greenloop"),
        ('{"verdict": "\\u001b[31m", "evidence": {}}', "cannot be read: "),
        (
            build_make_report()
            .model_dump_json()
            .replace('"schema_version":"2"', '"schema_version":"9"'),
            "is '9'",
        ),
    ],
)
def test_other_files_are_rejected_with_one_line(
    tmp_path: Path, text: str | bytes, why: str
) -> None:
    with pytest.raises(InputError, match=why) as told:
        read_report(save(tmp_path, text))
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 500
    assert told.value.exit_status == 2


@pytest.mark.parametrize(("request_", "said"), read_table(__file__, "NOT_ENDED"))
def test_run_that_did_not_end_names_what_can_be_done(
    request_: object, said: str, tmp_path: Path
) -> None:
    (tmp_path / "run.json").write_text(json.dumps(request_))
    with pytest.raises(InputError, match=re.escape(said)):
        read_report(tmp_path)


def test_the_error_for_a_folder_without_report_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no report\.json"):
        read_report(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        read_report(tmp_path / "nowhere")
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(InputError, match="greenloop resume"):
        read_report(tmp_path)
