"""The size and shape of the product: lines, files, functions, cycles, and how far a text travels.

    python bench/house.py [--beside OLD_CHECKOUT] [--python-beside PYTHON] [--no-trace]
                          [--since COMMIT]

Of the checkout that this file stands in; with `--beside` another tree's figures in a second column.

Lines are those of all `*.py` under `greenloop/`, blank ones and comments included. A package is a folder
with an `__init__.py`; files at its top are its `*.py` but for `__init__.py`. The median of the files
leaves `__init__.py` out too. A function's lines go from its `def` to its end, as in tests/repository/test_code_style.py;
nested functions and methods count as functions.

With `--since`, the lines of files that a commit had, renamed ones among them, stand apart from those of
files that were added later: growth of what was there is told from new features.

Import cycles are strongly connected sets of modules. An arrow goes from a module to each module that it
names in an import statement (to the package where the name is no module); a package that is imported on
the way to a module is not counted. Arrows of three kinds: at the module's top, inside a function, under
`if TYPE_CHECKING`. The first line counts cycles of arrows at the top; the second those that only
exist with the imports inside functions; the third those that need the ones under `TYPE_CHECKING`.

Hops are measured on a run, in a process of its own, of

    greenloop make examples/roman_numerals.md --model replay:examples/roman_numerals.jsonl --mutants 0

1. *Specification to prompt*: the first call of `jinja2.Template.render` whose result holds the
   specification's text (if there is none: the first call of the chat model that holds it).
2. *Code to sandbox process*: the first write to another process (`socket.send…`, `os.write`) whose bytes hold
   the generated code, raw or in base64, and that a function of `greenloop/sandbox` is on the stack of. If
   no bytes hold it, the first write or process start on whose stack it is a local variable.

At that moment the *joined stack* is taken: the frames of the thread, and below them, for a task the joined
stack at which it was created, for a thread the joined stack at which it was started, for a call in
an executor the joined stack at which it was submitted. Frames of the event loop below a task's first step are
left out; the task that runs the loop joins the stack that called `asyncio.run`.

Three figures, each the number of distinct `*.py` of greenloop:

- *on the stack* (S): with a frame on the joined stack. This is the figure of the two hop counts.
- *stack, or returned it* (R): besides, with a function that returned the text, or an object that holds it,
  up to that moment: helpers that it passed through and that have ended.
- *stack, or handed it* (A): besides, with a function that had it as an argument (but `self`) or returned it:
  also those that only looked at it, such as a log or a linter.

An object holds the text if its attributes do, its items or its closure, up to four levels deep. For the
code, R and A begin with the model's answer; for the specification they go on until the chat model is called.

The text is known by its longest line; the code by the longest line of words that the model's answer to
`generate_code` alone has.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import base64
import importlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial, wraps
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
EXAMPLE = "examples/roman_numerals"
MAX_FILES, MAX_LINES = 12, 50
WORST = 6
KINDS = ("top", "function", "typing")
TRACE_SECONDS = 600
WALKS = {"prompt": "specification to prompt", "sandbox": "code to sandbox"}


# --- files and functions


@dataclass(frozen=True)
class Module:
    name: str
    path: Path
    is_package: bool
    lines: int
    tree: ast.Module


def modules(root: Path) -> dict[str, Module]:
    """Return the modules below `greenloop/` by their dotted name."""
    found = {}
    for path in sorted((root / "greenloop").rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        text = path.read_text("utf-8")
        found[name] = Module(name, path, is_package, text.count("\n"), ast.parse(text))
    return found


def function_lengths(found: Iterable[Module]) -> dict[str, int]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        f"{module.name}:{node.name}:{node.lineno}": (node.end_lineno or 0) - node.lineno + 1
        for module in found
        for node in ast.walk(module.tree)
        if isinstance(node, kinds)
    }


def files_at_top(root: Path) -> dict[str, int]:
    """Return the number of files directly in each package, the fullest package first."""
    folders = {path.parent for path in (root / "greenloop").rglob("__init__.py")}
    counts = {
        folder.relative_to(root).as_posix(): sum(1 for _ in folder.glob("*.py")) - 1
        for folder in folders
    }
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def lines_of_packages(found: Iterable[Module], root: Path) -> dict[str, int]:
    """Return the lines of each top-level package, and of the files beside them."""
    sums: dict[str, int] = {}
    for module in found:
        inner = module.path.relative_to(root / "greenloop").parts
        name = f"{inner[0]}/" if len(inner) > 1 else "(top)"
        sums[name] = sums.get(name, 0) + module.lines
    return dict(sorted(sums.items()))


# --- imports


def imports(module: Module, known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the modules that a module imports, each with the kind of the arrow."""
    names = set(known)
    for node, kind in _import_nodes(module.tree, "top"):
        if isinstance(node, ast.Import):
            targets = [_longest(item.name, names) for item in node.names]
        else:
            base = _base(node, module)
            targets = [
                f"{base}.{item.name}" if f"{base}.{item.name}" in names else _longest(base, names)
                for item in node.names
            ]
        yield from ((name, kind) for name in targets if name and name != module.name)


def _import_nodes(node: ast.AST, kind: str) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, kind
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from _import_nodes(child, "function" if kind == "top" else kind)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for statement in child.body:
                yield from _import_nodes(ast.Module([statement], []), "typing")
            for statement in child.orelse:
                yield from _import_nodes(ast.Module([statement], []), kind)
        else:
            yield from _import_nodes(child, kind)


def _base(node: ast.ImportFrom, module: Module) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    kept = parts[: len(parts) - node.level + module.is_package]
    return ".".join([*kept, *((node.module or "").split(".") if node.module else [])])


def _longest(name: str, known: set[str]) -> str:
    """Return the module that is loaded for a dotted name; '' for a module of another package."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def arrows(found: dict[str, Module]) -> dict[str, set[tuple[str, str]]]:
    """Return the pairs (from, to) of each kind; a pair at the top is of no other kind."""
    pairs: dict[str, set[tuple[str, str]]] = {kind: set() for kind in KINDS}
    for module in found.values():
        for target, kind in imports(module, found):
            pairs[kind].add((module.name, target))
    pairs["function"] -= pairs["top"]
    pairs["typing"] -= pairs["top"] | pairs["function"]
    return pairs


def cycles(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the strongly connected sets of more than one module (Tarjan, without recursion)."""
    graph: dict[str, list[str]] = {}
    for start, end in sorted(pairs):
        graph.setdefault(start, []).append(end)
        graph.setdefault(end, [])
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    found: list[list[str]] = []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        open_.append(root)
        while work:
            node, rest = work[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    open_.append(target)
                    work.append((target, iter(graph[target])))
                    break
                if target in open_:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    place = open_.index(node)
                    members, open_ = open_[place:], open_[:place]
                    if len(members) > 1:
                        found.append(sorted(members))
    return found


def all_cycles(found: dict[str, Module]) -> dict[str, list[list[str]]]:
    """Return the cycles at the top, those added by imports in functions, those added by typing."""
    pairs = arrows(found)
    top = cycles(pairs["top"])
    loaded = cycles(pairs["top"] | pairs["function"])
    typed = cycles(pairs["top"] | pairs["function"] | pairs["typing"])
    return {
        "top": top,
        "function": [item for item in loaded if item not in top],
        "typing": [item for item in typed if item not in loaded],
    }


# --- the trace: this part runs in the process that is traced

Files = list[str]
Snapshot = tuple[str, ...]


@dataclass
class Walk:
    """A text to trace, and where it was found. `on_stack` is None until then."""

    marker: str
    on_stack: Snapshot | None = None
    at: str = ""
    handed: dict[str, None] = field(default_factory=dict)
    returned: dict[str, None] = field(default_factory=dict)
    is_open: bool = True


class Tracer:
    """Tracer that hooks into asyncio, threads, jinja2, LangChain, sockets, pipes; not greenloop."""

    def __init__(self, root: Path, specification: str, code: str) -> None:
        self._top = f"{root / 'greenloop'}{os.sep}"
        self._sandbox = f"{root / 'greenloop' / 'sandbox'}{os.sep}"
        self._cut = len(str(root)) + 1
        self.specification, self.code = Walk(specification), Walk(code)
        self.code.is_open = False  # until the model has answered
        self._fallback: tuple[Snapshot, str] | None = None
        self._tasks: weakref.WeakKeyDictionary[Any, Snapshot] = weakref.WeakKeyDictionary()
        self._ours = threading.local()
        self._encoded = _in_base64(code)

    # the joined stack

    def stack(self) -> Snapshot:
        """Return the joined stack of the running code: files of all frames, outermost first."""
        frames = list(_frames(sys._getframe(1)))
        task = self._task()
        if task is not None:
            step = max((n for n, item in enumerate(frames) if _is_step(item)), default=-1)
            below = self._tasks.get(task, ())
            return (*below, *(item.f_code.co_filename for item in frames[step + 1 :]))
        return (*self._join(), *(item.f_code.co_filename for item in frames))

    def _join(self) -> Snapshot:
        below: Snapshot = getattr(self._ours, "below", ())
        return below or getattr(threading.current_thread(), "bench_below", ())

    @staticmethod
    def _task() -> Any:
        try:
            return asyncio.current_task()
        except RuntimeError:
            return None

    def files(self, stack: Iterable[str]) -> Files:
        """Return the distinct files of greenloop, in the order of their first frame."""
        return list(
            dict.fromkeys(name[self._cut :] for name in stack if name.startswith(self._top))
        )

    # hooks

    def install(self) -> None:
        self._join_tasks()
        self._join_threads()
        self._join_executors()
        self._watch_prompts()
        self._watch_writes()
        sys.setprofile(self._profile)
        threading.setprofile(self._profile)

    def _join_tasks(self) -> None:
        create = asyncio.base_events.BaseEventLoop.create_task
        tasks = self._tasks

        @wraps(create)
        def create_task(loop: Any, *args: Any, **kwargs: Any) -> Any:
            below = self.stack()
            task = create(loop, *args, **kwargs)
            tasks[task] = below
            return task

        asyncio.base_events.BaseEventLoop.create_task = create_task  # type: ignore[method-assign, assignment]

    def _join_threads(self) -> None:
        start = threading.Thread.start

        @wraps(start)
        def start_recorded(thread: Any) -> None:
            thread.bench_below = self.stack()
            start(thread)

        threading.Thread.start = start_recorded  # type: ignore[method-assign, assignment]

    def _join_executors(self) -> None:
        submit: Any = ThreadPoolExecutor.submit
        ours = self._ours

        @wraps(submit)
        def submit_recorded(
            pool: Any, work: Callable[..., Any], /, *args: Any, **kwargs: Any
        ) -> Any:
            below = self.stack()

            def run_joined(*args: Any, **kwargs: Any) -> Any:
                before, ours.below = getattr(ours, "below", ()), below
                try:
                    return work(*args, **kwargs)
                finally:
                    ours.below = before

            return submit(pool, run_joined, *args, **kwargs)

        ThreadPoolExecutor.submit = submit_recorded  # type: ignore[method-assign]

    def _watch_prompts(self) -> None:
        import jinja2
        from langchain_core.language_models import BaseChatModel

        render = jinja2.Template.render

        @wraps(render)
        def render_recorded(template: Any, *args: Any, **kwargs: Any) -> str:
            text: str = render(template, *args, **kwargs)
            if self.specification.on_stack is None and self.specification.marker in text:
                self._record_find(self.specification, "jinja2.Template.render")
            return text

        jinja2.Template.render = render_recorded  # type: ignore[method-assign, assignment]
        for name in ("stream", "invoke", "generate", "_generate"):
            self._watch_model(BaseChatModel, name)

    def _watch_model(self, kind: Any, name: str) -> None:
        call = getattr(kind, name)

        @wraps(call)
        def call_recorded(model: Any, *args: Any, **kwargs: Any) -> Any:
            walk = self.specification
            if walk.is_open and holds((args, kwargs), walk.marker, 6):
                if walk.on_stack is None:
                    self._record_find(walk, f"BaseChatModel.{name}")
                walk.is_open = False
                self.code.is_open = True
            return call(model, *args, **kwargs)

        setattr(kind, name, call_recorded)

    def _watch_writes(self) -> None:
        import socket

        for name in ("send", "sendall", "sendto", "sendmsg"):
            self._watch_write(socket.socket, name)
        self._watch_write(os, "write")
        start = subprocess.Popen.__init__

        @wraps(start)
        def started(process: Any, *args: Any, **kwargs: Any) -> None:
            self._record_sending(b"", "subprocess.Popen")
            start(process, *args, **kwargs)

        subprocess.Popen.__init__ = started  # type: ignore[method-assign, assignment]

    def _watch_write(self, owner: Any, name: str) -> None:
        write = getattr(owner, name)

        @wraps(write)
        def write_recorded(first: Any, *args: Any, **kwargs: Any) -> Any:
            self._record_sending(
                b"".join(_bytes_in(args)), f"{getattr(owner, '__name__', owner)}.{name}"
            )
            return write(first, *args, **kwargs)

        setattr(owner, name, write_recorded)

    def _record_sending(self, content: bytes, where: str) -> None:
        walk = self.code
        if walk.on_stack is not None or not walk.is_open:
            return
        frames = list(_frames(sys._getframe(2)))
        if not any(item.f_code.co_filename.startswith(self._sandbox) for item in frames):
            return
        if any(item in content for item in (walk.marker.encode(), *self._encoded)):
            self._record_find(walk, where)
        elif self._fallback is None and self._on_frames(frames, walk.marker):
            self._fallback = self.stack(), where

    def _on_frames(self, frames: Iterable[types.FrameType], marker: str) -> bool:
        mine = (item for item in frames if item.f_code.co_filename.startswith(self._top))
        return any(holds(item.f_locals, marker, 4) for item in mine)

    def _record_find(self, walk: Walk, where: str) -> None:
        walk.on_stack, walk.at = self.stack(), where
        if walk is self.code:
            walk.is_open = False

    # what is handed on

    def _profile(self, frame: types.FrameType, event: str, value: Any) -> None:
        if event not in ("call", "return"):
            return
        name = frame.f_code.co_filename
        if not (name.startswith(self._top) and name.endswith(".py")):
            return
        for walk in (self.specification, self.code):
            found = walk.returned if event == "return" else walk.handed
            if walk.is_open and name[self._cut :] not in found:
                given = value if event == "return" else _arguments(frame)
                if holds(given, walk.marker, 4):
                    found[name[self._cut :]] = None

    def summarize(self) -> dict[str, Any]:
        walk = self.code
        if walk.on_stack is None and self._fallback:
            walk.on_stack, walk.at = self._fallback
        return {
            name: {
                "at": walk.at,
                "stack": self.files(walk.on_stack or ()),
                "returned": list(walk.returned),
                "handed": list(walk.handed),
            }
            for name, walk in (("prompt", self.specification), ("sandbox", self.code))
        }


def _frames(frame: types.FrameType | None) -> Iterator[types.FrameType]:
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    here = __file__
    return (item for item in reversed(found) if item.f_code.co_filename != here)


def _is_step(frame: types.FrameType) -> bool:
    """Whether the event loop runs a handle in this frame: a task's step is above it."""
    code = frame.f_code
    return code.co_name == "_run" and code.co_filename.endswith(
        os.path.join("asyncio", "events.py")
    )


def _arguments(frame: types.FrameType) -> list[Any]:
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    values = frame.f_locals
    names = code.co_varnames[:count]
    return [values[name] for name in names if name in values and name not in ("self", "cls")]


def holds(value: Any, marker: str, depth: int) -> bool:
    """Whether a text or an object's content has the marker. Runs no code of the object."""
    if isinstance(value, str):
        return marker in value
    if isinstance(value, (bytes, bytearray)):
        return marker.encode() in value
    if depth == 0 or value is None or isinstance(value, (int, float, type, types.ModuleType)):
        return False
    if isinstance(value, dict):
        return any(holds(item, marker, depth - 1) for item in list(value.values())[:100])
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(holds(item, marker, depth - 1) for item in list(value)[:100])
    if isinstance(value, types.FunctionType):
        return any(holds(_content(cell), marker, depth - 1) for cell in value.__closure__ or ())
    if isinstance(value, partial):
        return holds((value.args, value.keywords, value.func), marker, depth - 1)
    if isinstance(value, types.MethodType):
        return holds((value.__self__, value.__func__), marker, depth - 1)
    try:
        inner = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return False
    return holds(inner, marker, depth - 1) if type(inner) is dict else False


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _bytes_in(values: Iterable[Any]) -> Iterator[bytes]:
    for value in values:
        if isinstance(value, (bytes, bytearray, memoryview)):
            yield bytes(value)
        elif isinstance(value, (list, tuple)):
            yield from _bytes_in(value)


def _in_base64(text: str) -> list[bytes]:
    """Return the base64 form of a text within a longer one, for each of the three alignments."""
    content = text.encode()
    found = []
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + content)
        found.append(whole[4 : 4 * ((len(content) + shift) // 3)])
    return found


def trace_here(root: Path, output: Path) -> None:
    """Run the example in this process with the tracer, and write the result."""
    specification = max((root / f"{EXAMPLE}.md").read_text("utf-8").splitlines(), key=len)
    tracer = Tracer(root, specification.strip(), code_marker(root / f"{EXAMPLE}.jsonl"))
    sys.path.insert(0, str(root))
    model = f"replay:{root / EXAMPLE}.jsonl"
    sys.argv = ["greenloop", "make", f"{root / EXAMPLE}.md", "--model", model, "--mutants", "0"]
    tracer.install()
    try:
        importlib.import_module("greenloop.cli.main").app()  # `main` would end this process
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        loaded = Path(sys.modules["greenloop"].__file__ or "").resolve().parent
        told = {**tracer.summarize(), "loaded": str(loaded)}
        output.write_text(json.dumps(told), "utf-8")


def code_marker(recording: Path) -> str:
    """Return the longest run of words (equal in JSON) that only the `generate_code` answer has."""
    answers: dict[str, list[str]] = {}
    for line in recording.read_text("utf-8").splitlines():
        entry = json.loads(line)
        if "tool" in entry:
            answers.setdefault(entry["tool"], []).append(entry["answer"])
    (code, *_), others = answers.pop("generate_code"), str(answers)
    block = code.split("```")[1]
    found = re.findall(r"(?:[A-Za-z_]+ )*[A-Za-z_]+", block)
    longest: str = max((text for text in found if text not in others), key=len)
    return longest


# --- the trace, from outside


def trace_example(root: Path, python: str) -> dict[str, Any]:
    """Return the trace of the example in a checkout."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "trace.json")
        mine = {key: value for key, value in os.environ.items() if not key.startswith("GREENLOOP_")}
        command = [python, str(Path(__file__).resolve()), "--trace", str(root), str(output)]
        ended = subprocess.run(
            command,
            cwd=folder,
            env={**mine, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TRACE_SECONDS,
        )
        found = json.loads(output.read_text("utf-8")) if output.exists() else {}
    if Path(found.get("loaded", "")) != root / "greenloop" or not found["sandbox"]["stack"]:
        raise SystemExit(f"{root}: the example could not be traced: {ended.stderr[-2000:]}")
    return found


# --- what is printed


@dataclass(frozen=True)
class House:
    """A checkout's figures."""

    root: Path
    figures: dict[str, str]
    packages: dict[str, int]
    tops: dict[str, int]
    cycles: dict[str, list[list[str]]]
    trace: dict[str, Any]


def measure(root: Path, python: str, with_trace: bool) -> House:
    found = modules(root)
    lengths = function_lengths(found.values())
    longest = max(lengths, key=lambda name: lengths[name])
    own = [item.lines for item in found.values() if not item.is_package]
    over = sum(length > MAX_LINES for length in lengths.values())
    tops, cycled = files_at_top(root), all_cycles(found)
    fullest = next(iter(tops))
    name = longest.split(":")[0].removeprefix("greenloop.") + "." + longest.split(":")[1]
    trace = trace_example(root, python) if with_trace else {}
    figures = {
        "lines": f"{sum(item.lines for item in found.values())}",
        "lines of tests (Python)": f"{count_test_lines(root)}",
        "files": f"{len(found)}",
        "files, without __init__.py": f"{len(own)}",
        "median file, lines": f"{statistics.median(own):g}",
        "longest file, lines": f"{max(own)}",
        "files under 45 lines": f"{sum(lines < 45 for lines in own)}",
        "packages": f"{len(tops)}",
        f"packages with over {MAX_FILES} files": f"{sum(n > MAX_FILES for n in tops.values())}",
        "fullest package": f"{tops[fullest]} ({fullest.removeprefix('greenloop/')})",
        "functions": f"{len(lengths)}",
        "median function, lines": f"{statistics.median(lengths.values()):g}",
        f"functions over {MAX_LINES} lines": f"{over} ({over / len(lengths):.2%})",
        "longest function": f"{lengths[longest]} ({name})",
        "import cycles": f"{len(cycled['top'])}",
        "  with imports in functions": f"+{len(cycled['function'])}",
        "  with TYPE_CHECKING": f"+{len(cycled['typing'])}",
    }
    for walk, title in WALKS.items():
        if trace:
            stack, returned, handed = steps(trace[walk])
            figures[f"{title}: files on the stack"] = f"{len(stack)}"
            figures[f"{title}: stack, or returned it"] = f"{len(returned)}"
            figures[f"{title}: stack, or handed it"] = f"{len(handed)}"
    return House(root, figures, lines_of_packages(found.values(), root), tops, cycled, trace)


def count_test_lines(root: Path) -> int:
    """Count the lines of all `*.py` under `tests/`, of data such as projects under test too."""
    return sum(len(path.read_bytes().splitlines()) for path in (root / "tests").rglob("*.py"))


def show_age(root: Path, commit: str) -> None:
    """Print the lines of files that a commit had, and of those that were added since."""
    command = ["git", "diff", "-M30%", "--name-only", "--diff-filter=A", commit, "--", "greenloop"]
    shown = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    added = {root / name for name in shown.stdout.splitlines()}
    counts = {True: [0, 0], False: [0, 0]}
    for item in modules(root).values():
        counts[item.path in added][0] += 1
        counts[item.path in added][1] += item.lines
    for is_new, title in ((False, f"in files of {commit}"), (True, "in files added since")):
        files, lines = counts[is_new]
        print(f"{f'lines {title}':44}{lines:>32}  ({files} files)")


def show(houses: list[House]) -> None:
    print(f"{'':44}" + "".join(f"{item.root!s:>32}" for item in houses))
    rows = [list(item.figures.items()) for item in houses]
    for row in zip(*rows, strict=True):
        print(f"{row[0][0]:44}" + "".join(f"{value:>32}" for _, value in row))
    print("\nlines by package")
    for name in sorted(set().union(*(item.packages for item in houses))):
        counts = (item.packages.get(name) for item in houses)
        print(f"  {name:42}" + "".join(f"{'' if n is None else n:>32}" for n in counts))
    for item in houses:
        _show_one(item)


def _show_one(house: House) -> None:
    print(f"\n{house.root}")
    worst = [(name, n) for name, n in house.tops.items() if n > MAX_FILES] or list(
        house.tops.items()
    )[:WORST]
    print("  fullest packages: " + ", ".join(f"{name} {n}" for name, n in worst))
    kinds = {
        "top": "cycle",
        "function": "cycle by imports in functions",
        "typing": "cycle by TYPE_CHECKING",
    }
    for kind, title in kinds.items():
        for members in house.cycles[kind]:
            print(f"  {title}: {', '.join(members)}")
    for walk, title in WALKS.items():
        if house.trace:
            _show_walk(title, house.trace[walk])


def _show_walk(title: str, found: dict[str, Any]) -> None:
    stack, returned, handed = steps(found)
    counts = f"{len(stack)} on the stack (S), {len(returned)} with R, {len(handed)} with A"
    print(f"  {title}, until {found['at']}: {counts}")
    for number, name in enumerate(handed, 1):
        kinds = (("S", "stack"), ("R", "returned"), ("A", "handed"))
        marks = "".join(mark if name in found[key] else " " for mark, key in kinds)
        print(f"    {number:3} {marks} {name.removeprefix('greenloop/')}")


def steps(found: dict[str, Any]) -> tuple[Files, Files, Files]:
    """Return the files on the stack, then also those that returned the text, or were handed it."""
    returned = list(dict.fromkeys([*found["stack"], *found["returned"]]))
    return found["stack"], returned, list(dict.fromkeys([*returned, *found["handed"]]))


def main() -> None:
    if sys.argv[1:2] == ["--trace"]:
        trace_here(Path(sys.argv[2]), Path(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--beside", type=Path, metavar="OLD_CHECKOUT", help="a second column")
    parser.add_argument("--python", default=sys.executable, help="interpreter for the trace")
    parser.add_argument("--python-beside", default=sys.executable, help="that of OLD_CHECKOUT")
    parser.add_argument("--no-trace", action="store_true", help="leave the hop counts out")
    parser.add_argument("--since", metavar="COMMIT", help="lines by age of their files")
    chosen = parser.parse_args()
    houses = [measure(HERE, chosen.python, not chosen.no_trace)]
    if chosen.beside:
        old = chosen.beside.resolve()
        houses.append(measure(old, chosen.python_beside, not chosen.no_trace))
    show(houses)
    if chosen.since:
        print()
        show_age(HERE, chosen.since)


if __name__ == "__main__":
    main()
