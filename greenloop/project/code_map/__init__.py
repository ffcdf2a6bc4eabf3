"""Map of a project: modules and definitions, ranked by relevance to a wish, in a token budget."""

from greenloop.project.code_map.rendering import build_code_map, list_signatures

__all__ = ["build_code_map", "list_signatures"]
