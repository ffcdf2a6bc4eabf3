"""Programs find in the fixtures what tests find in those of pytest."""

import os
import sys
from contextlib import ExitStack

from greenloop.sandbox.guest.observation.fixtures import create_fixture


def test_bytes_of_the_output_are_captured_and_a_context_undoes_its_changes() -> None:
    with ExitStack() as stack:
        capsys, patch = (create_fixture(name, "", stack) for name in ("capsys", "monkeypatch"))
        sys.stdout.buffer.write(b"one\r\n")
        print("two")
        assert (capsys.readouterr(), capsys.readouterr()) == (("one\r\ntwo\n", ""), ("", ""))
        path = os.environ["PATH"]
        with patch.context() as inner:
            inner.setenv("PATH", "first", prepend=os.pathsep)
            inner.delattr(os, "getcwd")
            assert (os.environ["PATH"], hasattr(os, "getcwd")) == (
                f"first{os.pathsep}{path}",
                False,
            )
        assert (os.environ["PATH"], hasattr(os, "getcwd")) == (path, True)
