"""Rules of this repository's code and prose that no linter knows."""

import ast
import io
import re
import statistics
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import greenloop
from greenloop import errors
from tests.support.programs import read_table

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "greenloop").rglob("*.py"))

MAX_FILE_LINES = 250
MAX_LONGEST_FILE = 330
MAX_SHARE_OF_LONG_FILES = 0.02
MAX_FUNCTION_LINES = 50
MAX_PACKAGE_FILES = 12

# Words of a former dialect and the terms that replaced them. Checked in names, comments and
# docstrings, and in the texts that greenloop prints.
BANNED_WORDS: dict[str, str] = read_table(__file__, "BANNED_WORDS")
_BANNED = re.compile(rf"(?<![a-z])({'|'.join(BANNED_WORDS)})(?![a-z])", re.IGNORECASE)
_EXEMPT_FILES = {"test_code_style.py"}
_DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "examples" / "README.md"]
_EXEMPT_DOCUMENTS = {"CHANGELOG.md", "split.md"}


@cache
def parse_file(path: Path) -> ast.Module:
    """Parse a file once for all rules."""
    return ast.parse(path.read_text("utf-8"))


def functions() -> Iterator[tuple[str, int]]:
    """Yield each function of the package with its length in lines."""
    for path in SOURCES:
        for node in ast.walk(parse_file(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield f"{path.name}:{node.name}", (node.end_lineno or 0) - node.lineno + 1


_PARTICIPLE = re.compile(
    r"_*(?:[a-z]+ed|made|said|told|found|seen|kept|shown|given|done|taken|built|sent|held|known|written|begun)"
)
_PARTICIPLE_FUNCTION = re.compile(rf"def {_PARTICIPLE.pattern}\(")
_NO_ACTION = {
    "property",
    "cached_property",
    "fixture",
    "setter",
    "wraps",
}  # named by what they give
# Checks of the generated text that judges observations: `judge.raised(…)`.
_JUDGE_CHECKS = {"completed", "raised", "warned"}


def test_files_are_short() -> None:
    lengths = {str(path): path.read_text("utf-8").count("\n") for path in SOURCES}
    long = {name: n for name, n in lengths.items() if n > MAX_FILE_LINES}
    assert {name: n for name, n in long.items() if n > MAX_LONGEST_FILE} == {}
    assert len(long) <= MAX_SHARE_OF_LONG_FILES * len(lengths), long


def test_functions_are_short() -> None:
    lengths = dict(functions())
    assert {name: lines for name, lines in lengths.items() if lines > MAX_FUNCTION_LINES} == {}
    assert statistics.median(lengths.values()) <= 8


def test_packages_have_few_files() -> None:
    counts = Counter(path.parent for path in SOURCES if path.name != "__init__.py")
    assert {str(folder): n for folder, n in counts.items() if n > MAX_PACKAGE_FILES} == {}


def test_functions_are_not_named_by_a_bare_participle() -> None:
    """Else: name what the function does (`write_files`, `is_tested`)."""
    paths = [*SOURCES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "bench").glob("*.py")]
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}"
        for path in paths
        if not _is_data(path) and _PARTICIPLE_FUNCTION.search(path.read_text("utf-8"))
        for node in ast.walk(parse_file(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and _PARTICIPLE.fullmatch(node.name)
        and node.name not in _JUDGE_CHECKS
        and not any(word in ast.unparse(i) for i in node.decorator_list for word in _NO_ACTION)
    ]
    assert found == []


def prose(path: Path, *, with_strings: bool) -> Iterator[tuple[int, str]]:
    """Yield names, comments and docstrings of a file by line; with `with_strings` all its texts."""
    source = path.read_text("utf-8")
    if not _BANNED.search(source):
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.NAME, tokenize.COMMENT) or (
            token.type == tokenize.STRING
            and (
                token.line.lstrip().startswith(('"""', 'r"""'))
                or (with_strings and " " in token.string)
            )
        ):
            yield token.start[0], token.string


def find_banned_words(path: Path, *, with_strings: bool) -> Iterator[str]:
    for line, text in prose(path, with_strings=with_strings):
        for found in _BANNED.finditer(text):
            yield f"{path.relative_to(ROOT)}:{line}: {found[0]}"


def test_code_has_no_banned_word() -> None:
    """Else: say it with the term that stands beside the word in BANNED_WORDS."""
    tests = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "bench").glob("*.py")]
    checked = [path for path in tests if not _is_data(path) and path.name not in _EXEMPT_FILES]
    found = [item for path in checked for item in find_banned_words(path, with_strings=False)]
    found += [item for path in SOURCES for item in find_banned_words(path, with_strings=True)]
    assert found == []


def _is_data(path: Path) -> bool:
    return bool({"data", "fixtures", "forgery"} & set(path.parts))


def test_documents_have_no_banned_word() -> None:
    found = [
        f"{path.name}:{number}: {match[0]}"
        for path in _DOCUMENTS
        if path.name not in _EXEMPT_DOCUMENTS
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for match in _BANNED.finditer(line)
    ]
    assert found == []


def test_a_banned_word_is_found(tmp_path: Path) -> None:
    source = 'def tell(purse):  # foreign code\n    """Whoever asks."""\n    return "sealed off"\n'
    (tmp_path / "dialect.py").write_text(source)
    found = [
        match[0]
        for _, text in prose(tmp_path / "dialect.py", with_strings=True)
        for match in _BANNED.finditer(text)
    ]
    assert found == ["purse", "foreign", "Whoever", "sealed"]


def test_constants_are_named_max_and_min() -> None:
    """`MAX_BYTES`, not `MOST_BYTES`."""
    pattern = re.compile(r"^_?(MOST|LEAST)(_|$)|_(MOST|LEAST)$")
    found = {
        f"{path.name}: {node.id}"
        for path in SOURCES
        for node in ast.walk(parse_file(path))
        if isinstance(node, ast.Name) and pattern.search(node.id)
    }
    assert found == set()


def test_the_guest_imports_nothing_of_greenloop() -> None:
    """The strictest rule of `lint-imports`, for machines without import-linter."""
    for path in (ROOT / "greenloop" / "sandbox" / "guest").rglob("*.py"):
        assert not [name for name in find_imported(path) if name.startswith("greenloop")], path


def find_imported(path: Path) -> Iterator[str]:
    for node in ast.walk(parse_file(path)):
        if isinstance(node, ast.Import):
            yield from (item.name for item in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_grading_loads_no_model_and_no_langchain() -> None:
    loaded = run_python(
        "import sys, greenloop.cli.commands.check, greenloop.app.check, greenloop.app.check_diff; "
        "print([m for m in sys.modules "
        "if m.startswith(('langchain', 'langsmith', 'openai', 'greenloop.llm.chat'))])"
    )
    assert loaded == "[]"


def test_public_names_exist_and_are_loaded_on_first_use() -> None:
    for name in greenloop.__all__:
        assert getattr(greenloop, name).__name__ == name
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = greenloop.no_such_name
    code = "import sys, greenloop; print([m for m in sys.modules if m.startswith('greenloop.')])"
    assert run_python(code) == "[]"


def test_the_tree_of_errors_is_the_one_in_its_docstring() -> None:
    assert errors.__doc__ is not None
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    kinds = [kind for kind in kinds if kind.__module__ == errors.__name__]
    assert {kind.__name__ for kind in kinds} <= set(re.findall(r"\w+", errors.__doc__))
    for kind in kinds:
        assert issubclass(kind, errors.GreenloopError)
        assert f"status {kind.exit_status}" in errors.__doc__


def test_no_path_of_a_development_machine_is_named() -> None:
    for path in [*SOURCES, *ROOT.glob("*.md"), *(ROOT / "tests").rglob("*.py")]:
        if path != Path(__file__):
            assert "/work/shared" not in path.read_text("utf-8"), path
