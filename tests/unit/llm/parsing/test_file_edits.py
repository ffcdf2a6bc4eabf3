"""Answers that change several files: edits inside a fence, new files, and tests that are added."""

import pytest

from greenloop.llm.parsing.changes.file_edits import apply_file_edits, read_test_files
from greenloop.llm.parsing.errors import InvalidResponse

TEXTS = {
    "src/a.py": "x = 1\n\n\ndef f():\n    return x\n",
    "src/crlf.py": "x = 1\r\ny = 2\r\n",
    "src/mark.py": "\ufeffx = 1\ny = 2",
    "src/empty.py": "",
    "src/conf.toml": "x = 1\n",
    "tests/test_a.py": "from a import f\n\n\ndef test_f():\n    assert f() == 1\n",
    "pyproject.toml": "x = 1\n",
}
FENCE = ["src/**", "new.py", "sitecustomize.py", "*.toml"]


def edit(path: str, search: str, replace: str) -> str:
    return f"# file: {path}\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n"


def test_edits_of_several_files() -> None:
    answer = (
        "I change two files.\n\n```python\n"
        + edit("src/a.py", "x = 1\n", "x = 2\n")
        + edit("src/a.py", "    return x\n", "    return x + 1\n")
        + "```\n### File: `./src/crlf.py`\n"
        + edit("", "x = 1\n", "x = 2\nz = 3\n").partition("\n")[2]
        + edit("src/mark.py", "x = 1\n", "x = 2\n")
        + edit('"src/mark.py"', "y = 2\n", "y = 3\n")
    )
    assert apply_file_edits(answer, TEXTS, FENCE) == {
        "src/a.py": "x = 2\n\n\ndef f():\n    return x + 1\n",
        "src/crlf.py": "x = 2\r\nz = 3\r\ny = 2\r\n",
        "src/mark.py": "\ufeffx = 2\ny = 3",
    }


def test_new_and_empty_files_are_given_whole() -> None:
    answer = (
        "```python\n# file: new.py\nx = 1\n```\n\n# file: src/empty.py\n```python\ny = 1\n```\n"
    )
    assert apply_file_edits(answer, TEXTS, FENCE) == {
        "new.py": "x = 1\n",
        "src/empty.py": "y = 1\n",
    }


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (edit("src/a.py", "y = 1\n", ""), "src/a.py: SEARCH block 1 does not stand"),
        (
            edit("src/a.py", "x = 1\n", "# ... rest of the code\n"),
            "src/a.py: The code is not whole",
        ),
        (edit("src/a.py", "x = 1\n", "x\n")[:-20], "src/a.py: SEARCH block 1 has no end"),
        (edit("src/a.py", "x = 1\n", "x\n") + "<<<<<<< SEARCH\nx\n", "SEARCH block 2 has no end"),
        (edit("src/b.py", "x = 1\n", ""), "src/b.py: this file is not in the project"),
        ("# file: src/a.py\n```python\nx = 2\n```\n", "src/a.py: it exists"),
        ("# file: new.py\n```python\nx = 2\n", "new.py: give the whole file in one closed block"),
        (edit("lib/a.py", "x = 1\n", ""), "lib/a.py may not be changed: only files that match src"),
        (edit("../a.py", "x = 1\n", ""), "leads out of the project"),
        (edit("/etc/a.py", "x = 1\n", ""), "leads out of the project"),
        (edit("tests/test_a.py", "def", "def"), "tests/test_a.py is a test"),
        (edit("pyproject.toml", "x = 1\n", ""), "configures the tests"),
        ("```\n# file: src/data.json\n{}\n```", "only Python files can be added"),
        ("```python\n# file: src/json.py\nx = 1\n```", "takes the place"),
    ],
)
def test_what_is_wrong_is_said_with_block_and_file(answer: str, message: str) -> None:
    with pytest.raises(InvalidResponse) as error:
        apply_file_edits(answer, TEXTS, FENCE)
    assert message in str(error.value)


def test_a_guarded_file_is_changed_where_the_fence_names_it() -> None:
    answer = edit("pyproject.toml", "x = 1\n", "x = 2\n")
    assert apply_file_edits(answer, TEXTS, ["pyproject.toml"]) == {"pyproject.toml": "x = 2\n"}


def block_of(path: str, code: str) -> str:
    return f"```python\n# file: {path}\n{code}```\n"


def test_tests_are_added_to_a_file_or_make_a_new_one() -> None:
    added = "from a import g\n\n\ndef test_g():\n    assert g()\n"
    found = read_test_files(
        block_of("tests/test_a.py", added) + block_of("tests/test_b.py", added), TEXTS
    )
    assert found["tests/test_b.py"] == added
    assert found["tests/test_a.py"] == (
        "from a import f\nfrom a import g\n\n\ndef test_f():\n    assert f() == 1\n\n\n"
        "def test_g():\n    assert g()\n"
    )


def test_what_stands_above_a_later_import_is_kept() -> None:
    head = "import pytest\n\nCASES = [1]\n\nfrom a import g\n\n\n"
    added = f"{head}def test_g():\n    assert g(CASES)\n\n\nfrom a import h\n\n\n{TEST}"
    text = read_test_files(block_of("tests/test_a.py", added), TEXTS)["tests/test_a.py"]
    assert text == (
        "from a import f\nimport pytest\nfrom a import g\nfrom a import h\n\n\ndef test_f():\n"
        "    assert f() == 1\n\n\nCASES = [1]\n\n\ndef test_g():\n    assert g(CASES)\n\n\n" + TEST
    )


def test_an_unlocked_test_is_given_anew_and_line_ends_are_kept() -> None:
    texts = {"test_a.py": TEXTS["tests/test_a.py"].replace("\n", "\r\n")}
    answer = block_of("test_a.py", "def test_f():\n    assert f() == 2\n")
    found = read_test_files(answer, texts, ["test_a.py::test_f"])
    assert (
        found["test_a.py"] == "from a import f\r\n\r\n\r\ndef test_f():\r\n    assert f() == 2\r\n"
    )


TEST = "def test_new():\n    assert f()\n"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            block_of("tests/test_a.py", TEST.replace("new", "f")),
            "defines these names already: test_f",
        ),
        (block_of("tests/test_a.py", "pytestmark = 1\n" + TEST), "would change its tests"),
        (block_of("tests/conftest.py", TEST), "is not a test file"),
        (block_of("tests/__init__.py", TEST), "is not a test file"),
        (block_of("src/b.py", TEST), "is not a test file"),
        (block_of("tests/test_b.py", "x = 1\n"), "holds no test"),
        (block_of("tests/test_b.py", "def test_x(:\n"), "not valid Python"),
        ("no test at all", "holds no test"),
    ],
)
def test_what_is_no_addition_of_tests_is_sent_back(answer: str, message: str) -> None:
    with pytest.raises(InvalidResponse, match=message):
        read_test_files(answer, TEXTS)
