"""Parsers of changes in several files; a line `# file: PATH` begins each part of an answer."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePath

from greenloop.llm.parsing.code import check_complete
from greenloop.llm.parsing.code_blocks import extract_blocks, is_valid_python
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.parsing.search_replace import apply_edits, parse_edits
from greenloop.project.integrity import explain_guard, is_in_fence
from greenloop.testsuite.merge import append_tests, find_clashes, remove_future_imports
from greenloop.testsuite.parser import is_test_path, parse_test_functions, remove_tests

# Set-up for all tests of a module, which would affect the existing ones too.
_SHARED_SETUP = re.compile(
    r"autouse\s*=\s*True|^(pytestmark|pytest_plugins|(def )?(setup|teardown)_(module|function))\b",
    re.MULTILINE,
)
_FILE_LINE = re.compile(
    r"^(?P<fence>[ \t]*(?:`{3,}|~{3,})[^`\n]*\n)?"
    r"[ \t>*`]*\#{1,6} ?file:[ \t]*[`*'\"]*(?P<path>[^\s`*'\"\\]+)[`*'\"]*[ \t]*$\n?",
    re.MULTILINE | re.IGNORECASE,
)


def split_by_file(text: str) -> Iterator[tuple[str, str]]:
    """Yield path and text of each part of a cleaned answer; a path may occur more than once.

    Raises InvalidResponse: a path leads out of the project, or is not normalized.
    """
    found = list(_FILE_LINE.finditer(text))
    for number, line in enumerate(found):
        end = found[number + 1].start() if number + 1 < len(found) else len(text)
        path = line["path"].removeprefix("./")
        if path.startswith(("/", "~")) or ".." in path.split("/") or str(PurePath(path)) != path:
            raise InvalidResponse(
                f"`# file: {path}` leads out of the project, or is no plain path."
            )
        yield path, f"{line['fence'] or ''}{text[line.end() : end]}"


def apply_file_edits(
    text: str, current: Mapping[str, str], fence: Sequence[str], tests: Collection[str] = ()
) -> dict[str, str]:
    """Return the files that an answer changes, with their new texts; `tests` may not be changed.

    Raises InvalidResponse: a file is outside of the fence or is a test, an edit does not apply, or
    the answer gives the whole text of an existing file.
    """
    changed: dict[str, str] = {}
    for path, part in split_by_file(text):
        if is_test_path(path) or path in tests:
            raise InvalidResponse(f"{path} is a test: tests are not changed here.")
        _check_path(path, current, fence)
        try:
            changed[path] = _change_file(path, part, changed.get(path, current.get(path)))
        except InvalidResponse as error:
            raise InvalidResponse(f"{path}: {error}") from None
    return {path: text for path, text in changed.items() if text != current.get(path)}


def _check_path(path: str, current: Collection[str], fence: Sequence[str]) -> None:
    if not is_in_fence(path, fence):
        raise InvalidResponse(
            f"{path} may not be changed: only files that match {', '.join(fence)} may be."
        )
    guard = explain_guard(path, current)
    if guard and path not in fence:
        raise InvalidResponse(f"{path} may not be changed: {guard}.")
    if path not in current and not path.endswith((".py", ".pyi")):
        raise InvalidResponse(f"{path}: only Python files can be added.")


def _change_file(path: str, part: str, before: str | None) -> str:
    edits = parse_edits(part)
    if not edits and not (before or "").strip():
        return _extract_file(path, part)
    if before is None:
        raise InvalidResponse("this file is not in the project; give a new file whole.")
    if not edits:
        raise InvalidResponse(f"it exists: give SEARCH/REPLACE blocks under `# file: {path}`.")
    mark = "\ufeff" if before.startswith("\ufeff") else ""
    body = before.removeprefix(mark)
    has_crlf = _has_crlf(body)
    body = body.replace("\r\n", "\n") if has_crlf else body
    after = apply_edits(body, edits)
    check_complete(after, body)
    after = mark + after
    if not before.endswith("\n"):
        after = after.removesuffix("\n")  # `apply_edits` adds a line end
    return after.replace("\n", "\r\n") if has_crlf else after


def _has_crlf(text: str) -> bool:
    return text.count("\r\n") * 2 > text.count("\n")


def _extract_file(path: str, part: str) -> str:
    blocks = extract_blocks(part)
    if not blocks or not blocks[0].is_closed:
        raise InvalidResponse("give the whole file in one closed block.")
    if path.endswith(".py"):
        check_complete(blocks[0].text)
    return blocks[0].text


def read_test_files(
    text: str, texts: Mapping[str, str], replaceable: Collection[str] = ()
) -> dict[str, str]:
    """Return the test files of an answer: new ones, and existing ones (`texts`) with added tests.

    `replaceable` are the node ids of tests that an answer may replace.
    Raises InvalidResponse: there is no test, or a name of an existing file is redefined.
    """
    found: dict[str, str] = {}
    for path, part in split_by_file(text):
        name = path.rpartition("/")[2]
        if path not in texts and not fnmatchcase(name, "test_*.py") | fnmatchcase(
            name, "*_test.py"
        ):
            raise InvalidResponse(
                f"{path} is not a test file: name it test_….py beside the others."
            )
        if guard := explain_guard(path, texts):
            raise InvalidResponse(f"{path} may not be changed: {guard}.")
        added = _extract_file(path, part)
        if not is_valid_python(added):
            raise InvalidResponse(f"{path}: this is not valid Python. Answer with it again.")
        before = found.get(path, texts.get(path))
        found[path] = added if before is None else _append(path, before, added, replaceable)
    if not any("def test" in part for _, part in split_by_file(text)):
        raise InvalidResponse(
            "The answer holds no test. Give ```python blocks that begin with `# file: PATH`."
        )
    return found


def _append(path: str, before: str, added: str, replaceable: Collection[str]) -> str:
    for item in parse_test_functions(added):
        if f"{path}::{item.name}" in replaceable:
            before = remove_tests(before, {item.name})
    if found := _SHARED_SETUP.search(added):
        raise InvalidResponse(f"{path} exists: {found[0]} would change its tests. Add tests alone.")
    added = remove_future_imports(added)
    if taken := find_clashes(before, added):
        raise InvalidResponse(
            f"{path} defines these names already: {', '.join(taken)}. Choose other names."
        )
    text = append_tests(before.replace("\r\n", "\n"), added)
    return text.replace("\n", "\r\n") if _has_crlf(before) else text
