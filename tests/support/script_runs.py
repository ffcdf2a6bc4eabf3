"""Runs of scripts, for tests of what is said of them."""

from typing import Any

from greenloop.records.script_result import ProducedFile, ScriptRun


def build_run(stdout: str = "", made: dict[str, bytes] | None = None, **more: Any) -> ScriptRun:
    files = tuple(
        ProducedFile(path=path, size=len(content), content=content)
        for path, content in (made or {}).items()
    )
    return ScriptRun(**{"ending": "finished", "exit_status": 0} | more, stdout=stdout, made=files)
