"""Entry point of the program: a sandbox that will be needed begins to start before the imports."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from greenloop.sandbox.warm.zygote_client import ZygotePool

# With these, `check` needs another sandbox, or none.
_OTHER_OPTIONS = ("--help", "-h", "--sandbox", "--spec", "--watch")


def main() -> None:
    """Run the program. Ends the process with the exit status of the command."""
    # To look for plugins of pydantic reads the metadata of all packages; greenloop uses none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.set_threshold(100_000)  # what is imported stays: to search it for garbage takes a tenth
    try:
        zygotes = _start_zygotes(sys.argv[1:])
        from greenloop.cli.main import main as run_program
    except KeyboardInterrupt:
        sys.stderr.write("greenloop: interrupted\n")
        os._exit(130)
    run_program(zygotes)


def _start_zygotes(arguments: Sequence[str]) -> ZygotePool | None:
    """Start the processes that most checks need; None where the command may need others."""
    if arguments[:1] != ["check"] or any(item.startswith(_OTHER_OPTIONS) for item in arguments):
        return None
    from greenloop.sandbox.opening import start_zygotes

    return start_zygotes(None)


if __name__ == "__main__":
    main()
