"""The server finds what a process finds; where it fails, a process is started, and none is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import greenloop
from greenloop.autofix.lint_server import LintServer
from greenloop.autofix.ruff import LintResult, lint_code
from tests.support.module_corpus import pairs
from tests.support.started_processes import record_started

PACKAGE = Path(greenloop.__file__).parent
UNDEFINED = "import os\nprint(oss, ss, oss)\n"
FOUND = LintResult(("oss", "ss"), ("F401",))
SOURCES = {
    "empty": "",
    "blank lines": "\n\n\n",
    "no line end": "import os",
    "F821": "print(b, a, b)\n",
    "F821 in one annotation": "def f(x: 'Beta[Alpha, Gamma]') -> 'Alpha': ...\n",
    "F401": "import json\nimport math\nprint(math)\n",
    "F401 without a fix": "try:\n    import json\nexcept ImportError:\n    pass\n",
    "I001": "import math\nimport json\nprint(json, math)\n",
    "I001 of blank lines": "import json\n\nimport math\nprint(json, math)\n",
    "I001 within a line": "x = 1; import json\nimport math\nprint(json, math)\n",
    "I001 of own modules": "import here\nimport json\nprint(here, json)\n",
    "I001 of long lines": f"from json import {', '.join('loads' for _ in range(15))}\n",
    "F541": "x = f'a'\n",
    "UP006": "import typing\nx: typing.List[int] = []\n",
    "UP031": "a = 1\nx = '%s' % (a,)\n",
    "UP032": "a = 1\nx = '{}'.format(a)\n",
    "UP045": "import typing\nx: typing.Optional[int] = None\n",
    "E713": "x = not 1 in [2]\n",
    "an unsafe fix": "x = '{}'.format(  # why\n    1)\n",
    "another rule": "try:\n    x = 1\nexcept:\n    x = 2\n",
    "syntax error": "import os\ndef f(:\n",
    "syntax of a later version": "try:\n    pass\nexcept* ValueError:\n    print(y)\n",
    "unfinished": "x = '''\nimport os\n",
    "non-ASCII": "ünï = 'é'; print('ü', größe, 'ß', 名前)\n",
    "astral": "x = '😀😀'; import zlib; import json; print('😀', y)\n",
    "other line ends": "import os\x0cx = 1\x0b\u2028\nprint(y)\n",
    "carriage returns": "import math\rimport json\rprint(json, math)\r",
    "a null byte": "x = 1\x00\nprint(y)\n",
    "a byte order mark": "\ufeffimport math\nimport json\nprint(json, math, y)\n",
    "noqa": "import os  # noqa\nprint(y)  # noqa: F821\nprint(z)  # noqa: F401\n",
    "noqa of imports": "import math  # noqa: I001\nimport json\nprint(json, math)\n",
    "noqa of a file": "# ruff: noqa\nimport os\nprint(y)\n",
    "noqa of a rule": "# ruff: noqa: F401\nimport os\nprint(y)\n",
    "isort: off": "# isort: off\nimport math\nimport json\nprint(json, math)\n",
    "a header": "Content-Length: 3\r\n\r\n{}\r\n",
}


def read_corpora() -> list[str]:
    """Return modules and tests as models write them, and this package, in two kinds of line ends."""
    texts = [text for pair in pairs() for text in (pair.code, pair.tests)]
    texts += [path.read_text("utf-8") for path in sorted(PACKAGE.glob("autofix/*.py"))]
    # Without their imports, and with what is left of a cut, they have more to find.
    texts += [text.replace("import ", "import abc, ", 1) for text in texts]
    texts += ["\n".join(text.split("\n")[3:]) for text in texts]
    return [*texts, *(text.replace("\n", "\r\n") for text in texts[::3])]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LintServer]:
    """Yield a server that has no process to fall back to."""
    monkeypatch.delattr("greenloop.autofix.lint_server.lint_code")
    opened = LintServer()
    yield opened
    opened.close()


@pytest.mark.parametrize("name", SOURCES)
def test_the_server_finds_what_a_process_finds(server: LintServer, name: str) -> None:
    Path("here.py").touch()
    assert server.lint(SOURCES[name]) == lint_code(SOURCES[name])


def test_the_server_finds_what_a_process_finds_in_many_sources(server: LintServer) -> None:
    texts = read_corpora()
    with ThreadPoolExecutor(4) as pool:
        expected = list(pool.map(lint_code, texts))
        assert list(pool.map(server.lint, texts)) == expected
    assert len({code for item in expected for code in item.fixable}) > 3
    assert sum(bool(item.undefined) for item in expected) > len(expected) / 4


def test_the_sources_have_something_to_find() -> None:
    assert lint_code(UNDEFINED) == FOUND
    named = [name for name in SOURCES if name.isupper() and name[-1].isdigit()]
    found = {name: lint_code(SOURCES[name]) for name in named}
    assert len(found) > 7
    for name, item in found.items():
        assert item.undefined if name == "F821" else name in item.fixable, name
    assert lint_code(SOURCES["I001 of blank lines"]).fixable == ()


def test_no_configuration_of_the_folder_is_read(server: LintServer) -> None:
    rules = 'line-length = 20\nexclude = ["*"]\nlint.ignore = ["F821", "F401"]\n'
    Path("ruff.toml").write_text(rules)
    Path("pyproject.toml").write_text(f"[tool.ruff]\n{rules}")
    assert server.lint(UNDEFINED) == FOUND


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[Any]]:
    """Record the servers that are started during the test."""
    return record_started(monkeypatch, lambda command: command[1:2] == ["server"])


def test_a_source_that_cannot_be_encoded_has_a_process(
    started: list[subprocess.Popen[Any]],
) -> None:
    server, source = LintServer(), "x = '\udc80'\nprint(y)\n"
    assert server.lint(UNDEFINED) == FOUND
    assert server.lint(source) == lint_code(source)
    assert started[0].poll() is None
    server.close()
    assert started[0].returncode == -signal.SIGKILL


def test_one_server_starts_at_the_first_source_and_ends_at_the_close(
    started: list[subprocess.Popen[Any]],
) -> None:
    server = LintServer()
    assert started == []
    with ThreadPoolExecutor(8) as pool:
        names = [f"name_{number}" for number in range(40)]
        found = pool.map(server.lint, [f"print({name})\n" for name in names])
        assert [item.undefined for item in found] == [(name,) for name in names]
    (process,) = started
    assert process.poll() is None
    server.close()
    assert process.returncode is not None
    assert server.lint(UNDEFINED) == FOUND
    server.close()
    assert len(started) == 1


def test_a_server_that_never_started_can_be_closed(started: list[subprocess.Popen[Any]]) -> None:
    LintServer().close()
    assert started == []


ANSWERING = """\
import json, os, sys
while line := sys.stdin.buffer.readline():
    sys.stdin.buffer.readline()
    message = json.loads(sys.stdin.buffer.read(int(line.split()[1])))
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        answer = {"result": {}}
    else:
        answer = ANSWER
    body = json.dumps({"id": message["id"], **answer}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%s" % (len(body), body))
    sys.stdout.buffer.flush()
"""
BROKEN = {
    "is not executable": None,
    "ends at once": "pass",
    "never answers": "import time; time.sleep(60)",
    "reads and never answers": "import sys, time; sys.stdin.read()",
    "answers nonsense": "while True: print('Content-Length: 5\\r\\n\\r\\nnever')",
    "answers a number": "print('Content-Length: 1\\r\\n\\r\\n7', flush=True); input()",
    "answers a huge length": "print(f'Content-Length: {10**18}\\r\\n\\r\\n', flush=True); input()",
    "never ends a line": "import sys\nwhile True: sys.stdout.write('x')",
    "ends at the first source": ANSWERING.replace("answer = ANSWER", "os._exit(1)"),
    "reports an error": ANSWERING.replace("ANSWER", "{'error': {'code': 1, 'message': 'no'}}"),
    "answers null": ANSWERING.replace("ANSWER", "{'result': None}"),
    "has other items": ANSWERING.replace("ANSWER", "{'result': {'items': [{'code': 'F821'}]}}"),
    "stops at the first source": ANSWERING.replace(
        "answer = ANSWER", "import time; time.sleep(60)"
    ),
}


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str | None], None]:
    """Return a function that replaces the server's program, but not the process's, by a script."""

    def replace(script: str | None) -> None:
        program = tmp_path / "program"
        program.write_text(f"#!{sys.executable}\n{script}\n")
        program.chmod(0o755 if script else 0o644)
        monkeypatch.setattr("greenloop.autofix.lint_server.find_ruff", lambda: str(program))

    return replace


@pytest.mark.parametrize("what", BROKEN)
def test_a_process_lints_where_the_server_fails(
    install: Callable[[str | None], None], started: list[subprocess.Popen[Any]], what: str
) -> None:
    install(BROKEN[what])
    server = LintServer(timeout_s=1)
    large = UNDEFINED + "# no pipe holds as much\n" * 40_000
    before = time.monotonic()
    assert [server.lint(large), server.lint(UNDEFINED)] == [FOUND, FOUND]
    assert time.monotonic() - before < 20
    assert len(started) == (BROKEN[what] is not None)  # it is not started again
    assert all(item.returncode is not None for item in started)
    server.close()


def test_a_process_lints_where_ruff_has_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise ImportError("ruff")

    monkeypatch.setattr("greenloop.autofix.lint_server.find_ruff", fail)
    assert LintServer().lint(UNDEFINED) == FOUND


def test_a_server_that_is_killed_loses_nothing(started: list[subprocess.Popen[Any]]) -> None:
    server = LintServer()
    assert server.lint(UNDEFINED) == FOUND
    started[0].kill()
    assert server.lint(UNDEFINED) == FOUND
    assert server.lint(UNDEFINED) == FOUND
    assert len(started) == 1


def test_an_interrupt_at_the_terminal_does_not_reach_the_server(
    started: list[subprocess.Popen[Any]],
) -> None:
    server = LintServer()
    server.lint(UNDEFINED)
    assert os.getpgid(started[0].pid) != os.getpgid(0)
    server.close()


def test_a_close_ends_the_wait_of_a_thread(install: Callable[[str | None], None]) -> None:
    install(BROKEN["stops at the first source"])
    server, found = LintServer(), list[LintResult]()
    thread = threading.Thread(target=lambda: found.append(server.lint(UNDEFINED)))
    thread.start()
    time.sleep(1)
    before = time.monotonic()
    server.close()
    thread.join()
    assert time.monotonic() - before < 10
    assert found == [FOUND]


def test_an_interrupted_source_leaves_no_answer_to_the_next(
    monkeypatch: pytest.MonkeyPatch, started: list[subprocess.Popen[Any]]
) -> None:
    server = LintServer()
    assert server.lint(UNDEFINED) == FOUND

    def interrupt(_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("greenloop.autofix.lint_server._read_message", interrupt)
        with pytest.raises(KeyboardInterrupt):
            server.lint("print(other)\n")
    assert started[0].returncode is not None
    assert server.lint(UNDEFINED) == FOUND


def test_the_server_gets_no_variable_of_the_environment(
    install: Callable[[str | None], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    install("import os\nopen('environment', 'w').write(repr(dict(os.environ)))")
    LintServer().lint("")
    seen = Path("environment").read_text()
    assert "LC_CTYPE" in seen or seen == "{}"  # Python itself may set that one
    assert "secret" not in seen
    assert "PATH" not in seen


def test_the_server_ends_with_a_killed_process() -> None:
    script = (
        "from greenloop.autofix.lint_server import LintServer\n"
        "server = LintServer()\n"
        "server.lint('x')\n"
        "print(server._process.pid, flush=True)\n"
        "input()\n"
    )
    pipe = subprocess.PIPE
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment) as process:
        assert process.stdout is not None
        server = int(process.stdout.readline())
        assert is_running(server)
        process.kill()
    until = time.monotonic() + 10
    while is_running(server):
        assert time.monotonic() < until, "the server is left"
        time.sleep(0.05)


def is_running(number: int) -> bool:
    """Return whether there is a process with the number that has not ended."""
    command = ["ps", "-o", "stat=", "-p", str(number)]
    state = subprocess.run(command, capture_output=True, text=True).stdout.strip()
    return state not in ("", "Z")
