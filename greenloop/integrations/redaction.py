"""Redaction of the environment's API keys in answers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from greenloop.settings import Settings

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)S?$", re.IGNORECASE)
_MIN_SECRET_LENGTH = 8  # characters; shorter values are not keys and occur in many texts


class Redactor:
    """Hides the values of keys in texts."""

    def __init__(self, settings: Settings, environment: Mapping[str, str]) -> None:
        key = settings.openai_api_key
        values = {value for name, value in environment.items() if _SECRET_NAME.search(name)}
        values |= {key.get_secret_value()} if key else set()
        self._values = sorted(
            (v for v in values if len(v) >= _MIN_SECRET_LENGTH), key=len, reverse=True
        )

    def redact(self, text: str) -> str:
        """Return the text with `***` in place of each key."""
        for value in self._values:
            text = text.replace(value, "***")
        return text
