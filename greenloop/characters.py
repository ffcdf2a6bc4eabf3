"""Characters of untrusted text that a terminal, a CI service or a reader may take for more."""

import re
import unicodedata
from typing import Final

NOT_PRINTABLE_ASCII: Final = re.compile(r"[^\n\t\x20-\x7e]")
# Azure Pipelines, TeamCity and older runners of GitHub find their commands anywhere in a line.
COMMAND_MARK: Final = re.compile(r"##(?=\[|vso\[|teamcity\[)")
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def is_invisible(char: str) -> bool:
    """Return whether a character is a control or format character, or none at all."""
    return unicodedata.category(char) in _INVISIBLE_CATEGORIES
