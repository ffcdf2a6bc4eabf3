"""Integrations into other programs: MCP server, LangGraph node, LangChain tool."""
