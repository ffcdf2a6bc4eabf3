"""The gate behind a coding agent: what its change still lacks, in the form that the agent takes."""
