"""For those who work from a checkout: the agent under the name that tutorials give it."""

from greenloop.agent import CodingAgent, run_coding_agent

__all__ = ["CodingAgent", "run_coding_agent"]
