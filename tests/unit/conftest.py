"""Unit tests start no process, open no sandbox and import no package of a model's provider."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

_STARTS_OF_PROCESSES = {
    "subprocess.Popen",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.exec",
    "os.system",
    "os.startfile",
}
_PROVIDERS = ("langchain_openai", "langchain_anthropic", "langchain_ollama")
_running = [""]


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Refuse what a unit test may not do; an audit hook sees it however it is called."""
    if not _running[0]:
        return
    if event in _STARTS_OF_PROCESSES:
        raise RuntimeError(
            f"{_running[0]} starts a process ({event}): move it to tests/integration"
        )
    if event == "import" and arguments[0] in _PROVIDERS:
        raise RuntimeError(f"{_running[0]} imports {arguments[0]}: move it to tests/integration")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    # pytest calls this hook for the tests of other folders, too.
    is_unit = Path(__file__).parent in item.path.parents
    _running[0] = item.nodeid if is_unit else ""
    try:
        return (yield)
    finally:
        _running[0] = ""


sys.addaudithook(_refuse)
