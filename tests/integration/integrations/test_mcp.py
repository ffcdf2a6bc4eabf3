"""`greenloop mcp`, called by the SDK's own client over standard input and over HTTP."""

import asyncio
import http.client
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from greenloop.agent import CodingAgent
from greenloop.cli.commands.mcp import _open_socket
from greenloop.events import Notice
from greenloop.integrations.mcp import progress as telling
from greenloop.settings import Settings
from greenloop.workflow.storage.run_dir import RunDirectory
from tests.integration.integrations.conftest import HUNG_S, KEY, QUICK, Model
from tests.support.model_responses import GOOD_CODE, fence
from tests.support.openai_server import OpenAIServer

mcp = pytest.importorskip("mcp", reason="the MCP SDK is not installed: pip install '.[mcp]'")

ADDING = "def add(a, b):\n    print('noise')\n    return a + b\n"
TESTS = "from adding import add\n\ndef test_add():\n    assert add(2, 3) == 5\n    assert add(0, -1) == -1\n"
SCRIPT = "import sys\n\nprint(open('in.txt').read(), sys.argv[1])\n"
BROKEN_SCRIPT = SCRIPT.replace("argv[1]", "argv[1], nowhere")
SPECIFICATION = "Write top_k(xs, k): the k largest numbers, largest first."

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "raw", "version": "0"},
}

Talk = Callable[[Any], Coroutine[Any, Any, Any]]


def message(method: str, **rest: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "method": method, **rest}) + "\n"


def talk(target: Any, with_client: Talk, mode: str = "auto") -> Any:
    """What the coroutine makes of a client that is connected to the server."""

    async def run_conversation() -> Any:
        async with mcp.Client(target, mode=mode) as client:
            return await asyncio.wait_for(with_client(client), HUNG_S)

    return asyncio.run(run_conversation())


def over_stdio(folder: Path, environment: dict[str, str], *arguments: str) -> Any:
    command = ["-m", "greenloop", "mcp", *arguments]
    return mcp.StdioServerParameters(
        command=sys.executable, args=command, env=environment, cwd=folder
    )


async def answer(client: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content
    return found


async def refusal(client: Any, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)


@pytest.mark.usefixtures("model")
def test_a_host_over_stdio_gets_tested_code_and_is_told_how_it_goes(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    told: list[tuple[float, str]] = []

    async def session(client: Any) -> Any:
        async def progress(number: float, _total: float | None, line: str | None) -> None:
            told.append((number, line or ""))

        tools = (await client.list_tools()).tools
        result = await client.call_tool(
            "make_tested_code",
            {"specification": SPECIFICATION},
            progress_callback=progress,
        )
        return {tool.name: tool.output_schema for tool in tools}, result

    schemas, result = talk(over_stdio(tmp_path, environment), session)
    assert set(schemas) == {
        *("make_tested_code", "check_code", "heal_code", "change_code"),
        "check_changes",
    }
    assert all("verdict" in schema["properties"] for schema in schemas.values())
    made = result.structured_content
    assert (made["verdict"], made["reached"]) == ("passed", True)
    assert (
        made["calls"] == 4
    )  # contract, code, tests and review; QUICK leaves the second implementation out
    assert f"from {made['module']} import" in made["tests"]
    assert "def " in made["code"]
    assert Path(made["run_dir"]).parent == tmp_path / ".greenloop" / "runs"
    assert Path(made["report"]).is_file()
    assert [number for number, _ in told] == list(range(1, len(told) + 1))
    assert any(line.startswith("attempt") for _, line in told)
    assert [item.name for item in tmp_path.iterdir()] == [".greenloop"]


@pytest.mark.slow
def test_a_host_is_told_what_the_changes_of_a_project_lack(tmp_path: Path) -> None:
    (tmp_path / "adding.py").write_text(ADDING)
    (tmp_path / "test_adding.py").write_text(TESTS)
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "begin")):
        named = ("-c", "user.name=n", "-c", "user.email=n@example.org")
        subprocess.run(["git", *named, *arguments], cwd=tmp_path, check=True)
    (tmp_path / "test_adding.py").write_text(TESTS.replace("== 5", "> 0"))

    async def session(client: Any) -> Any:
        found = await answer(client, "check_changes", time=200)
        return found, await refusal(client, "check_changes", folder="..")

    found, refused = talk(over_stdio(tmp_path, QUICK), session)
    assert not found["is_done"]
    assert "test_add asserts less than before: `add(2, 3) == 5` is now `add(2, 3) > 0`" in (
        found["message"]
    )
    assert "leads out of the folder" in refused


@pytest.mark.slow
def test_stdout_belongs_to_the_protocol_and_the_server_ends_with_its_input(tmp_path: Path) -> None:
    call = {"name": "check_code", "arguments": {"code": ADDING, "tests": TESTS}}
    command = [sys.executable, "-m", "greenloop", "mcp"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=QUICK, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(message("initialize", id=1, params=HELLO))
        server.stdin.write(message("notifications/initialized"))
        server.stdin.write("no message\n")
        server.stdin.write(message("tools/call", id=3, params=call))
        server.stdin.flush()
        said = {item["id"]: item for item in (json.loads(server.stdout.readline()) for _ in "13")}
        server.stdin.close()
        rest = server.stdout.read()
        assert (server.wait(HUNG_S), rest) == (0, "")
    assert set(said) == {1, 3}
    assert said[3]["result"]["structuredContent"]["verdict"] in ("passed", "verified")


@pytest.mark.slow
def test_a_host_that_is_killed_leaves_a_server_that_ends_quietly(tmp_path: Path) -> None:
    endless = {
        "code": ADDING,
        "tests": TESTS.replace("    assert", "    while True: add(1, 1)\n    assert"),
    }
    call = {"name": "check_code", "arguments": endless, "_meta": {"progressToken": 1}}
    with subprocess.Popen(
        [sys.executable, "-m", "greenloop", "mcp"],
        cwd=tmp_path,
        env={**QUICK, "EXECUTION_TIMEOUT_SECONDS": "3000"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin
        assert server.stdout
        assert server.stderr
        server.stdin.write(message("initialize", id=1, params=HELLO))
        server.stdin.write(message("tools/call", id=2, params=call))
        server.stdin.flush()
        while "run  " not in server.stdout.readline():
            continue
        server.stdout.close()
        server.stdin.close()
        assert (server.wait(HUNG_S), server.stderr.read()) == (0, "")
    (run,) = (tmp_path / ".greenloop" / "runs").iterdir()
    assert "interrupted" in json.loads((run / "report.json").read_text())["reasons"][0]


def test_the_address_that_is_told_can_be_connected_to_at_once() -> None:
    with _open_socket(0) as door:
        socket.create_connection(door.getsockname(), timeout=HUNG_S).close()


@pytest.mark.slow
def test_check_and_heal_over_http(
    http_server: tuple[str, Path], model: Model, model_server: OpenAIServer
) -> None:
    address, folder = http_server
    broken = ADDING.replace("a + b", "a - b")
    script = {"code": BROKEN_SCRIPT, "arguments": ["2"], "inputs": {"in.txt": "hello"}}
    before = len(model_server.requests)

    async def session(client: Any) -> Any:
        good = await answer(client, "check_code", code=ADDING, tests=TESTS)
        bad = await answer(client, "check_code", code=broken, tests=TESTS)
        healed = await answer(client, "heal_code", code=broken, tests=TESTS)
        runs = await answer(client, "heal_code", expect=["hello 2"], **script)
        return good, bad, healed, runs

    model.answers |= {"repair_code": fence(ADDING), "repair_script": fence(SCRIPT)}
    good, bad, healed, runs = talk(address, session)
    assert (good["passed"], good["not_passed"], good["calls"]) == (1, 0, 0)
    assert (bad["verdict"], bad["not_passed"]) == ("failed", 1)
    assert "assert -1 == 5" in bad["failures"][0]
    assert (healed["code"], healed["reached"], healed["repairs"]) == (ADDING, True, 1)
    assert (runs["code"], runs["reached"], runs["tests"]) == (SCRIPT, True, "")
    assert model_server.tools()[before:] == ["repair_code", "repair_script"]
    assert {path.name for path in folder.iterdir()} == {".greenloop"}


@pytest.mark.slow
def test_what_cannot_be_used_is_refused_in_one_line(
    http_server: tuple[str, Path], model: Model
) -> None:
    address, folder = http_server
    model.refuse = f"Incorrect API key provided: {KEY}"

    async def session(client: Any) -> Any:
        before = set((folder / ".greenloop" / "runs").glob("*"))
        said = [
            await refusal(client, "check_code", code=ADDING),
            await refusal(client, "check_code", code="def f(", tests=TESTS),
            await refusal(client, "check_code", code=ADDING, tests="import json\n"),
            await refusal(client, "heal_code", code=ADDING, test=TESTS),  # no script to be run
            await refusal(client, "heal_code", code=ADDING, module="adding"),
            await refusal(client, "heal_code", code=" ", tests=TESTS),
            await refusal(client, "heal_code", code=ADDING, tests=TESTS, stdin="x"),
            await refusal(client, "heal_code", code="1", inputs={"../../x": "y"}),
            await refusal(client, "change_code", wish="Add x.", folder="../.."),
            await refusal(client, "make_tested_code", specification=" "),
            await refusal(client, "make_tested_code", specification="x", module="os"),
            await refusal(client, "make_tested_code", specification="x", module="a", tests=TESTS),
        ]
        left = set((folder / ".greenloop" / "runs").glob("*")) - before
        refused = await refusal(client, "make_tested_code", specification=SPECIFICATION)
        still = await answer(client, "check_code", code=ADDING, tests=TESTS)
        return said, left, refused, still

    said, left, refused, still = talk(address, session)
    assert said[0] == "tests: Field required"
    assert "line 1" in said[1]
    assert said[3].startswith("test: no argument of heal_code: code, tests,")
    for line in (*said, refused):
        assert "\n" not in line
        assert str(folder) not in line or line == refused
        assert "internal error" not in line
    assert left == set()
    assert KEY not in refused
    assert still["passed"] == 1


@pytest.mark.slow
@pytest.mark.parametrize(("way", "mode"), [("stdio", "auto"), ("http", "auto"), ("http", "legacy")])
def test_a_cancelled_call_stops_its_run_which_can_be_resumed(
    way: str,
    mode: str,
    http_server: tuple[str, Path],
    environment: dict[str, str],
    model: Model,
    model_server: OpenAIServer,
    tmp_path: Path,
) -> None:
    address, folder = http_server if way == "http" else ("", tmp_path)
    target: Any = address or over_stdio(folder, environment)
    model.hold("review_code")
    before = len(model_server.requests)
    runs = set((folder / ".greenloop" / "runs").glob("*"))

    async def session(client: Any) -> Any:
        arguments = {"specification": SPECIFICATION}
        call = asyncio.ensure_future(client.call_tool("make_tested_code", arguments))
        assert await asyncio.to_thread(model.asked.wait, HUNG_S)
        call.cancel()
        await asyncio.wait({call})
        (run,) = set((folder / ".greenloop" / "runs").glob("*")) - runs
        report = await asyncio.to_thread(wait_for_json, run / "report.json")
        model.release.set()
        still = await answer(client, "check_code", code=ADDING, tests=TESTS)
        return run, report, still

    run, report, still = talk(target, session, mode)
    assert "interrupted" in report["reasons"][0]
    assert still["passed"] == 1
    asked = model_server.tools()[before:]
    assert sorted(set(asked)) == [
        "generate_code",
        "generate_tests",
        "parse_specification",
        "review_code",
    ]
    settings = Settings.load(
        model="openai:served",
        openai_base_url=model_server.url,
        openai_api_key=KEY,
        mutants="0",
        peer=False,
    )
    resumed = asyncio.run(CodingAgent(settings).resume(RunDirectory.open(run)))
    assert resumed.final_code == GOOD_CODE
    again = model_server.tools()[before + len(asked) :]
    assert "review_code" in again  # held back; the tests may have been under way beside it
    assert set(again) <= {"review_code", "generate_tests"}
    assert len(again) == len(set(again))


@pytest.mark.slow
def test_a_cancelled_check_ends_what_the_sandbox_runs(http_server: tuple[str, Path]) -> None:
    address, folder = http_server
    endless = "from adding import add\n\ndef test_add():\n    while add(1, 1):\n        pass\n"
    found: list[Path] = []

    async def session(client: Any) -> Any:
        begun = asyncio.Event()

        async def progress(_number: float, _total: float | None, line: str | None) -> None:
            if line and line.startswith("run "):
                found.append(Path(line.split()[1]))
                begun.set()

        arguments = {"code": ADDING, "tests": endless}
        call = client.call_tool("check_code", arguments, progress_callback=progress)
        task = asyncio.ensure_future(call)
        await asyncio.wait_for(begun.wait(), HUNG_S)
        task.cancel()
        await asyncio.wait({task})
        return await asyncio.to_thread(wait_for_json, folder / found[0] / "report.json")

    report = talk(address, session)  # the time limit of a run is longer than we wait
    assert "interrupted" in report["reasons"][0]


def wait_for_json(path: Path) -> Any:
    """What is in a JSON file, once it is there."""
    since = time.monotonic()
    while not path.exists():
        assert time.monotonic() - since < HUNG_S, f"{path} was never written"
        time.sleep(0.05)
    return json.loads(path.read_text())


@pytest.mark.slow
def test_two_calls_are_worked_on_at_once(http_server: tuple[str, Path], model: Model) -> None:
    model.hold("parse_specification", calls=2)  # answers none before the other has asked too
    model.release.set()

    async def session(client: Any) -> Any:
        calls = (answer(client, "make_tested_code", specification=SPECIFICATION) for _ in range(2))
        return await asyncio.gather(*calls)

    first, second = talk(http_server[0], session)
    assert first["code"] == second["code"] == GOOD_CODE
    assert first["run_dir"] != second["run_dir"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("headers", "status"),
    [({"Host": "evil.example"}, 421), ({"Origin": "http://evil.example"}, 403)],
)
def test_only_this_machine_is_served(
    http_server: tuple[str, Path], headers: dict[str, str], status: int
) -> None:
    port = int(http_server[0].split(":")[2].split("/")[0])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HUNG_S)
    content = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    connection.request("POST", "/mcp", b"{}", {**content, **headers})
    assert connection.getresponse().status == status
    with pytest.raises(ConnectionRefusedError):  # an address that 0.0.0.0 would have
        http.client.HTTPConnection("127.0.0.2", port, timeout=HUNG_S).connect()


def test_a_host_hears_of_a_call_in_which_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "_HEARTBEAT_SECONDS", 0.01)
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def tell(_number: int, line: str) -> None:
        await heard.put(line)

    async def silent() -> str:
        async with telling.forward_progress(tell):
            return await asyncio.wait_for(heard.get(), HUNG_S)

    assert "running for" in asyncio.run(silent())


def test_a_progress_line_that_cannot_be_sent_costs_no_result() -> None:
    async def fail(_number: int, _line: str) -> None:
        raise ConnectionError

    async def work() -> str:
        async with telling.forward_progress(fail) as emit:
            emit(Notice("begins"))
        return "paid for"

    assert asyncio.run(work()) == "paid for"
