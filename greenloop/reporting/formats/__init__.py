"""Report formats: Markdown, JUnit XML, SARIF, GitHub annotations."""
