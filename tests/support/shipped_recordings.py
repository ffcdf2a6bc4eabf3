"""The recordings of `examples/`, with the requests that they were made for."""

import hashlib
from pathlib import Path

from greenloop.workflow.heal.request import HealModuleRequest, HealScriptRequest, OriginalFile
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.script.request import InputRef, ScriptRequest, ScriptSpec
from greenloop.workflow.storage.request import GivenTests, RunRequest

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORDINGS = sorted([*EXAMPLES.glob("*.jsonl"), *EXAMPLES.glob("*/answers.jsonl")])
_INPUTS = {"script_log_report": "access.log"}


def build_recorded_request(recording: Path) -> RunRequest:
    """Return the request of an example, as far as it decides what the recording is bound to."""
    if recording.name != "answers.jsonl":
        return MakeRequest(specification=recording.with_suffix(".md").read_text("utf-8"))
    folder = recording.parent
    if folder.name.startswith("script_"):
        read = folder / _INPUTS[folder.name]
        sha256 = hashlib.sha256(read.read_bytes()).hexdigest()
        ref = InputRef(path=read.name, source=str(read), sha256=sha256)
        script = ScriptSpec(name="script.py", inputs=(ref,))
        task = (folder / "task").read_text("utf-8")
        return ScriptRequest(specification=task, script=script)
    tests = sorted(folder.glob("test_*.py"))
    path = next(item for item in folder.glob("*.py") if item not in tests)
    text = path.read_text("utf-8")
    original = OriginalFile(path=str(path), text=text, sha256="")
    if not tests:
        return HealScriptRequest(original=original, script=ScriptSpec(name=path.name))
    given = tuple(GivenTests.from_code(item.name, item.read_text("utf-8")) for item in tests)
    return HealModuleRequest(original=original, given=given)
