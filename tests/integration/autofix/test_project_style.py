"""Fixes of a change by the project's own configuration: what is new is fixed, what was stays."""

import pytest

from greenloop.autofix.project_style import apply_project_style

RUFF = b'[tool.ruff]\nline-length = 60\n[tool.ruff.lint]\nselect = ["F", "I", "E501"]\n'
BLACK = b"[tool.black]\nline-length = 60\nskip-string-normalization = true\n"
OWN = "import os\nimport shop\n"
FORMATTED = "def f(a):\n    return [a, 'b']\n"
LONG = "def f(a):\n    return [a, 'b', 'cccccccccccccccccc', 'ddddddddddddddddddddd']\n"


@pytest.mark.parametrize("config", [b"", b"[project]\nname = 'x'\n"])
def test_without_a_configuration_nothing_changes(config: bytes) -> None:
    changed = {"a.py": "import os\nx=1\n"}
    assert apply_project_style({"pyproject.toml": config}, changed).texts == changed


def test_new_findings_are_fixed_and_old_ones_stay() -> None:
    files = {
        "ruff.toml": b"fix = true\nfix-only = true\nlint.select = ['F401', 'F541', 'F841', 'I']\n",
        "a.py": b"import os\n\n\ndef f( ):\n    return 1\n",
        "shop/__init__.py": b"",
    }
    changed = {
        "a.py": "import os\n\n\ndef f( ):\n    y = 2\n    return f'1'\n",
        "b.py": "import shop\nimport os\nprint(os, shop)\n",
    }
    found = apply_project_style(files, changed)
    assert found.texts == {
        "a.py": "import os\n\n\ndef f( ):\n    y = 2\n    return '1'\n",
        "b.py": "import os\n\nimport shop\n\nprint(os, shop)\n",
    }
    assert found.applied == ("ruff F541", "ruff I001")
    assert found.findings == ("a.py: ruff F841",)


@pytest.mark.parametrize(
    ("config", "quotes"), [({"pyproject.toml": BLACK}, "'"), ({"pyproject.toml": RUFF}, '"')]
)
def test_a_formatted_file_stays_so(config: dict[str, bytes], quotes: str) -> None:
    before = FORMATTED.replace("'", quotes)
    found = apply_project_style({**config, "a.py": before.encode()}, {"a.py": LONG})
    assert found.texts["a.py"] == (
        "def f(a):\n    return [\n        a,\n        'b',\n        'cccccccccccccccccc',\n"
        "        'ddddddddddddddddddddd',\n    ]\n"
    ).replace("'", quotes)
    assert (
        apply_project_style({**config, "a.py": b"x  = 1\n"}, {"a.py": LONG}).texts["a.py"] == LONG
    )


def test_configuration_that_cannot_be_used_changes_nothing() -> None:
    broken = {"pyproject.toml": b"[tool.ruff]\nrequired-version = '==0.0.1'\n", "a.py": b"x = 1\n"}
    changed = {"a.py": "import os\nx  = 2\r\n"}
    assert apply_project_style(broken, changed).texts == changed
