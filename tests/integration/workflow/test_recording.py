"""What a recording is bound to."""

from pathlib import Path

import pytest

from greenloop.workflow.heal.request import HealModuleRequest, OriginalFile
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.script.request import InputRef, ScriptRequest, ScriptSpec
from greenloop.workflow.storage.request import GivenTests, RunRequest, hash_recorded_texts
from tests.support.change_responses import change_request


def heal(code: str, tests: str) -> RunRequest:
    original = OriginalFile(path="/x/m.py", text=code, sha256="")
    return HealModuleRequest(original=original, given=(GivenTests.from_code("test_m.py", tests),))


def script(task: str, *digests: str, stdin: str = "") -> RunRequest:
    read = tuple(InputRef(path=f"f{n}", source="/x", sha256=d) for n, d in enumerate(digests))
    ref = InputRef(path="in", source="/y", sha256=stdin) if stdin else None
    return ScriptRequest(specification=task, script=ScriptSpec(name="s.py", inputs=read, stdin=ref))


def make(text: str, **fields: object) -> RunRequest:
    return MakeRequest.model_validate({"specification": text, **fields})


@pytest.mark.parametrize(
    ("one", "other", "is_equal"),
    [
        (make("A\nb"), make("\n A\r\nb \r\n"), True),
        (make("A"), make("A", module="m", record="r", amendments=("more",)), True),
        (make("A b"), make("A  b"), False),
        (heal("x = 1", "t"), heal("x = 1\n", "t\r\n"), True),
        (heal("x = 1", "t"), heal("x = 2", "t"), False),
        (heal("x = 1", "t"), heal("x = 1", "u"), False),
        (script("A", "1", "2"), script("A", "2", "1"), True),
        (script("A", "1"), script("A"), False),
        (script("A", "1"), script("B", "1"), False),
        (script("A"), script("A", stdin="1"), False),
    ],
)
def test_texts_that_decide_the_answers_are_bound(
    one: RunRequest, other: RunRequest, is_equal: bool
) -> None:
    assert (hash_recorded_texts(one) == hash_recorded_texts(other)) is is_equal


def test_a_wish_is_bound_to_the_python_files_of_its_project(tmp_path: Path) -> None:
    request = change_request(tmp_path)
    before = hash_recorded_texts(request)
    (tmp_path / "shop" / "answers.jsonl").write_text("{}")
    assert hash_recorded_texts(request) == before
    assert hash_recorded_texts(change_request(tmp_path, specification="another")) != before
    (tmp_path / "shop" / "src" / "shop" / "more.py").write_text("x = 1\n")
    assert hash_recorded_texts(request) != before
