"""greenloop inside other programs: as an MCP server, as a tool of a LangChain agent."""
