"""Reads of a module's environment: its process, its machine, its interpreter and its callers.

Code that depends on such a fact can be right in the sandbox and wrong in the programs of its users,
as no sandbox resembles all of them. A read is no forgery. It keeps the verdict from `verified`
unless the tests name the same fact, because then they can set the fact and check the effect.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator

from greenloop.grading.integrity.module_names import FOLLOWED, ModuleNames
from greenloop.records import IntegrityFinding
from greenloop.syntax.nodes import get_last_name
from greenloop.syntax.parse import PARSE_ERRORS

_MEMBERS_BY_EFFECT = {
    "reads which process or user it is": (
        "os.getppid os.getuid os.geteuid os.getgid os.getegid os.getresuid os.getresgid "
        "os.getgroups os.getgrouplist os.getlogin os.getsid os.getpgid os.getpgrp os.ctermid "
        "os.ttyname getpass.getuser"
    ),
    "reads limits or resources of its process": (
        "os.getpriority os.nice os.times os.getloadavg os.statvfs os.fstatvfs os.sysconf os.confstr "
        "os.sched_getaffinity os.sched_getscheduler os.sched_getparam shutil.disk_usage "
        "time.process_time time.process_time_ns time.thread_time time.thread_time_ns "
        "time.clock_gettime time.clock_gettime_ns"
    ),
    "reads which machine it is on": (
        "os.uname platform.uname platform.node socket.gethostname socket.getfqdn socket.if_nameindex "
        "uuid.getnode"
    ),
    "reads how its process was started": (
        "sys.path sys.path_importer_cache sys.warnoptions sys.pycache_prefix "
        "sys.dont_write_bytecode warnings.filters"
    ),
    "reads the state of its interpreter": (
        "sys.getallocatedblocks sys.getrefcount sys.getrecursionlimit sys.gettrace sys.getprofile "
        "sys.getunicodeinternedsize threading.gettrace threading.getprofile"
    ),
    "asks for a socket that a sandbox refuses": (
        "socket.AF_UNIX socket.AF_NETLINK socket.AF_PACKET socket.SOCK_RAW"
    ),
    "reads its callers": "traceback.format_stack traceback.print_stack traceback.StackSummary",
}
_MEMBERS = {name: why for why, names in _MEMBERS_BY_EFFECT.items() for name in names.split()}
# Modules that provide only such facts, each with its members that read none.
_MODULES = {
    "resource": "setrlimit",
    "faulthandler": "enable disable",
    "tracemalloc": "",
    "pwd": "",
    "grp": "",
    "spwd": "",
    "posix": "",
    "site": "",
}
_CHANGES_OF_PATH = frozenset({"append", "insert"})
_CALLS_WITH_PATHS = frozenset(
    "open exists lexists is_file is_dir is_mount isfile isdir islink ismount stat lstat access listdir "
    "scandir walk glob iglob iterdir readlink samefile read_text read_bytes disk_usage statvfs".split()
)
_HIDDEN = re.compile(r"_[a-z]|__dict__$")
_VARIABLE = re.compile("(PYTHON|PYTEST_)[A-Z_]+")
_OF_INTERPRETER = "names a variable of the interpreter"
_USUAL_PATHS = ("/dev/",)  # null, urandom, stdin: they do not depend on the machine
_MAX_STACK_LEVEL = 3  # a function, its caller, and the caller of a decorator
# Names by which a module reads back its warnings and log records, which name a caller's frame.
_RECEIVERS = frozenset(
    "showwarning formatwarning catch_warnings addHandler addFilter Handler StreamHandler emit".split()
)


def find_process_reads(code: str, tests: Iterable[str] = ()) -> tuple[IntegrityFinding, ...]:
    """Return the reads that no test names, by line; () if the code cannot be parsed."""
    try:
        tree = ast.parse(code)
        reader = _Reader(tree, "\n".join(tests))
        found = {(at.lineno, what) for node in ast.walk(tree) for at, what in reader.read(node)}
    except PARSE_ERRORS:
        return ()
    return tuple(IntegrityFinding(line=line, what=what) for line, what in sorted(found))


class _Reader:
    """Rules for the reads of one module that its tests do not name."""

    def __init__(self, tree: ast.Module, tests: str) -> None:
        self._names, self._tests = ModuleNames(tree), tests
        nodes = list(ast.walk(tree))
        self._receives = any(get_last_name(node) in _RECEIVERS for node in nodes)
        self._changed = {
            id(node.value)
            for node in nodes
            if isinstance(node, ast.Attribute) and node.attr in _CHANGES_OF_PATH
        }

    def read(self, node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
        """Yield the reads of one node, without its children."""
        if isinstance(node, ast.ImportFrom) and not node.level:
            members = (self._read_member(node.module or "", item.name) for item in node.names)
            yield from ((node, found) for found in members if found)
        elif isinstance(node, ast.expr) and (found := self._read_expression(node)):
            yield node, found

    def _read_expression(self, node: ast.expr) -> str:
        if isinstance(node, ast.Attribute):
            return self._read_member(self._names.resolve(node.value), node.attr, id(node))
        if isinstance(node, ast.Call):
            return self._read_call(node)
        if isinstance(node, ast.Name) and self._names.is_handed_on(node):
            return f"uses `{self._names.resolve(node)}` in a way that cannot be analysed"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            is_variable = _VARIABLE.fullmatch(node.value)
            return self._explain(node.value, _OF_INTERPRETER) if is_variable else ""
        return ""

    def _read_member(self, module: str, name: str, node: int = 0) -> str:
        effect = "" if node in self._changed else self._find_effect(module, name)
        return self._explain(f"{module}.{name}".strip("."), effect)

    def _find_effect(self, module: str, name: str) -> str:
        if module in _MODULES:
            return "" if name in _MODULES[module].split() else "reads facts of its process"
        if module.partition(".")[0] in sys.stdlib_module_names and _HIDDEN.match(name):
            return "is a private member of the standard library"
        if name == "*" and module in FOLLOWED:
            return "imports names that cannot be analysed"
        return _MEMBERS.get(f"{module}.{name}", "")

    def _explain(self, shown: str, effect: str) -> str:
        """Return the text of a finding; '' without an effect, or if the tests name the fact."""
        named = re.escape(shown).replace(r"\.", r"\W+")
        is_named = bool(effect) and re.search(rf"(?<!\w){named}(?!\w)", self._tests)
        return f"`{shown}` {effect}, which no test sets" if effect and not is_named else ""

    def _read_call(self, node: ast.Call) -> str:
        name = get_last_name(node.func)
        named = {item.arg: item.value for item in node.keywords}
        level = named.get("stacklevel")
        if self._receives and level is not None and not _is_small(level):
            return "`stacklevel` reads its callers"
        if "stack_info" in named or name == "findCaller":
            return "a record of the log reads its callers"
        if name == "catch_warnings" and "record" in named:
            return "recorded warnings name its callers"
        if name in _CALLS_WITH_PATHS and (path := _find_absolute_path(node)):
            return "" if path in self._tests else f"`{path}` is a path of the machine"
        return ""


def _is_small(level: ast.expr) -> bool:
    return isinstance(level, ast.Constant) and level.value in range(_MAX_STACK_LEVEL + 1)


def _find_absolute_path(node: ast.Call) -> str:
    """Return an absolute path in the first argument or receiver of a call; '' if there is none."""
    operands = [
        *node.args[:1],
        *([node.func.value] if isinstance(node.func, ast.Attribute) else []),
    ]
    texts = (
        item.value for at in operands for item in ast.walk(at) if isinstance(item, ast.Constant)
    )
    paths = (str(text) for text in texts if re.match(r"/\w", str(text)))
    return next((path for path in paths if not path.startswith(_USUAL_PATHS)), "")
