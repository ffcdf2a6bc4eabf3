"""Makes docs/terminal.svg: a real run of a recorded example, as a terminal shows it.

python bench/terminal_picture.py [EXAMPLE]
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from greenloop.reporting.progress.messages import LABEL_WIDTH
from greenloop.reporting.progress.renderer import build_labelled_row

ROOT = Path(__file__).parents[1]
WIDTH = 110
CODE_LINES = 8


def style(line: str) -> str:
    """Return the colour of a line's label, as at a terminal."""
    label = line[:LABEL_WIDTH].strip()
    if label == "attempt":
        return "green" if " 0 failed, 0 errors" in line else "red"
    return "yellow" if label in ("dispute", "stuck", "again") else "cyan"


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "roman_numerals"
    command = ["greenloop", f"examples/{name}.md", "--model", f"replay:examples/{name}.jsonl"]
    command += sys.argv[2:]
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "NO_COLOR": "1", "GREENLOOP_HOME": home}
        ended = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
        )
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ {' '.join(command)}", "bold"))
    told = ended.stderr.splitlines()
    for line in (
        item for item in told if not item.startswith("…")
    ):  # progress lines that a terminal overwrites
        shown = line.replace(home, ".greenloop").replace(str(ROOT) + "/", "")
        console.print(build_labelled_row(shown, style(shown)))
    code, _, verdict = ended.stdout.partition("\n# ")
    lines = code.rstrip().split("\n")
    more = f"\n… {len(lines) - CODE_LINES} more lines of code" if len(lines) > CODE_LINES else ""
    console.print(Syntax("\n".join(lines[:CODE_LINES]), "python", background_color="default"))
    console.print(Text(more.strip(), "dim"))
    console.print(Text("# " + verdict.replace(home, ".greenloop").rstrip(), "green"))
    path = ROOT / "docs" / "terminal.svg"
    picture = console.export_svg(title="greenloop")
    # No font is downloaded: any monospaced one fits.
    path.write_text(re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL), encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
