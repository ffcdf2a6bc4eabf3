"""Application services shared by the command line and the integrations."""
