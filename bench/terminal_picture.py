"""Maker of docs/terminal.svg, the last screen of a terminal in a recorded run. Needs tmux.

python -m bench.terminal_picture            writes the picture
python -m bench.terminal_picture --check    fails where a run of today shows something else
"""

from __future__ import annotations

import io
import re
import shutil
import sys
import tempfile
from html import escape, unescape
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tests.support.tmux_screen import Screen

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "terminal.svg"
WIDTH, HEIGHT = 100, 25
NAME = "roman_numerals"
COMMAND = f"examples/{NAME}.md --model replay:examples/{NAME}.jsonl -o {NAME}.py"
DONE = "the shell is back"


def capture(folder: Path) -> str:
    """Return the last screen of a run, with its colours."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    settings = (
        f"cd {folder}; export PYTHONPATH={ROOT}; unset NO_COLOR CI COLUMNS LINES GREENLOOP_HOME"
    )
    run = f"{sys.executable} -m greenloop {COMMAND}; sleep 1"
    screen = Screen(WIDTH, f"{settings}; {run}; touch ended; echo {DONE}; sleep 500", HEIGHT)
    try:
        screen.until(lambda shown: DONE in shown)
        return screen.get_colored_text().partition(DONE)[0].rstrip()
    finally:
        screen.close()


def normalize(text: str) -> str:
    """Remove what differs between runs: times, the name of the run, inputs tried in a time.

    A busy machine adds notes, which move the lines above them off the screen.
    """
    text = re.sub(r"^note .*?(?=^\S)", "", text, flags=re.MULTILINE | re.DOTALL)
    text = text[max(text.find("\nreview "), 0) :]
    text = re.sub(r"\.greenloop/runs/\S+", "RUN", text)
    text = re.sub(r"\d+ of \d+ inputs", "N inputs", text)
    text = re.sub(r"(native|bubblewrap), strong", "SANDBOX", text)
    text = re.sub(r"^(  time +).*", r"\1TIME", text, flags=re.MULTILINE)  # has no part near zero
    return re.sub(r"(\d+ min )?\d+\.\d s|\b\d+ s\b", "N s", text)


def draw(screen: str) -> str:
    """Return the picture; its description is the text."""
    shown = Text.from_ansi(screen)
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(shown, soft_wrap=True)
    picture = console.export_svg(
        title=f"greenloop examples/{NAME}.md --model replay:… -o {NAME}.py"
    )
    # No font is downloaded: any monospaced one fits.
    picture = re.sub(r"@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    description = f"<desc>{escape(shown.plain)}</desc>"
    return re.sub(r"(<svg [^>]*>)", lambda found: found[1] + description, picture, count=1)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        screen = capture(Path(folder))
    if "✓ verified" not in screen:
        sys.exit(f"the run is not verified:\n{screen}")
    if sys.argv[1:] != ["--check"]:
        PICTURE.write_text(draw(screen), encoding="utf-8")
        print(PICTURE)
        return
    found = re.search(r"<desc>(.*?)</desc>", PICTURE.read_text("utf-8"), re.DOTALL)
    before, today = unescape(found[1]) if found else "", Text.from_ansi(screen).plain
    if normalize(before) != normalize(today):
        sys.exit(f"{PICTURE} is stale: run `python -m bench.terminal_picture`\n{today}")


if __name__ == "__main__":
    main()
