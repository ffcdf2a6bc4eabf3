"""Gate for coding agents: findings on an unfinished change, in the format of the agent."""
