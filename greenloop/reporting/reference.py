"""`python -m greenloop.reporting.reference FILE`: writes docs/report.md anew."""

from __future__ import annotations

import sys
from pathlib import Path

from greenloop.reporting.schema import reference


def main(arguments: list[str]) -> None:
    """Writes the reference to the file that is named, or to standard output."""
    if arguments:
        Path(arguments[0]).write_text(reference(), encoding="utf-8")
    else:
        sys.stdout.write(reference())


if __name__ == "__main__":
    main(sys.argv[1:])
