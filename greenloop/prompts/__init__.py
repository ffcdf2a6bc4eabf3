"""Prompts of the tools: one template each in `templates/`, strictly rendered."""

from greenloop.prompts.prompt import Message, Prompt

__all__ = ["Message", "Prompt"]
