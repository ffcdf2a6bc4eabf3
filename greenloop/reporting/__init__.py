"""What people see: progress lines, the summary, the report."""
