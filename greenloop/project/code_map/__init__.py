"""Map of a project: its modules and definitions, ranked by a wish, within a number of tokens."""

from greenloop.project.code_map.rendering import build_code_map, list_signatures

__all__ = ["build_code_map", "list_signatures"]
