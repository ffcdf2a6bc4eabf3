"""Settings, declared once in `table`."""

from greenloop.settings.loading import Settings, find_ignored, list_settings

__all__ = ["Settings", "find_ignored", "list_settings"]
