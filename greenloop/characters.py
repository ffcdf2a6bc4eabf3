"""Characters of untrusted text that are invisible, or that a terminal or CI service executes."""

import re
import unicodedata
from typing import Final

NOT_PRINTABLE_ASCII: Final = re.compile(r"[^\n\t\x20-\x7e]")
# Azure Pipelines, TeamCity and older runners of GitHub find their commands anywhere in a line.
COMMAND_MARK: Final = re.compile(r"##(?=\[|vso\[|teamcity\[)")
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def is_invisible(char: str) -> bool:
    """Return whether a character has no glyph: control, format, separator or unassigned."""
    return unicodedata.category(char) in _INVISIBLE_CATEGORIES
