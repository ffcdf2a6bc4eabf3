"""Report formats: terminal, Markdown, JUnit XML, SARIF."""
