"""Entry point of the program."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the program. Ends the process with the exit status of the command."""
    # To look for plugins of pydantic reads the metadata of all packages; greenloop uses none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.set_threshold(100_000)  # what is imported stays: to search it for garbage takes a tenth
    try:
        from greenloop.cli.main import main as run_program
    except KeyboardInterrupt:
        sys.stderr.write("greenloop: interrupted\n")
        os._exit(130)
    run_program()


if __name__ == "__main__":
    main()
