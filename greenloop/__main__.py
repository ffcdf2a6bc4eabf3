"""Entry point of the program."""

import os
import sys


def main() -> None:
    """Run the program. Ends the process with the exit status of the command."""
    try:
        from greenloop.cli.main import main as run_program
    except KeyboardInterrupt:
        sys.stderr.write("greenloop: interrupted\n")
        os._exit(130)
    run_program()


if __name__ == "__main__":
    main()
