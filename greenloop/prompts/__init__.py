"""Prompts of the tools, each rendered from a template in `templates/`."""

from greenloop.prompts.rendering import Message, Prompt

__all__ = ["Message", "Prompt"]
