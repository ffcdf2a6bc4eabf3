"""Files that a run writes for its user."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from greenloop.errors import OutputError
from greenloop.workflow.delivery import check_output_paths
from greenloop.workflow.storage.run_dir import write_atomically


def test_name_that_is_too_long_is_refused_before_the_run() -> None:
    request: Any = SimpleNamespace(output="x" * 300, tests_output=None)
    with pytest.raises(OutputError, match=r"^--output x+ cannot be written: File name too long"):
        check_output_paths(request)


def test_symbolic_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    (link := tmp_path / "link.py").symlink_to("file.py")
    write_atomically(link, "x = 1\n")
    assert (link.is_symlink(), (tmp_path / "file.py").read_text()) == (True, "x = 1\n")
