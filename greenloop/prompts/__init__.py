"""Prompts: one file each in `templates/`, strictly rendered."""

from greenloop.prompts.prompt import Message, Prompt
from greenloop.prompts.rendering import render

__all__ = ["Message", "Prompt", "render"]
