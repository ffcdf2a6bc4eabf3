"""Prompts of the tools: one template each in `templates/`, strictly rendered."""

from greenloop.prompts.rendering import Message, Prompt

__all__ = ["Message", "Prompt"]
