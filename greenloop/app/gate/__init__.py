"""Gate for coding agents: what a change still lacks, in the format of the agent."""
