"""The only code that runs beside foreign code. Standard library and pytest alone."""
