"""Prompts of the tools: one template each in `templates/`, strictly rendered."""

from greenloop.prompts.prompt import Message, Prompt
from greenloop.prompts.rendering import PromptTemplates

__all__ = ["Message", "Prompt", "PromptTemplates"]
