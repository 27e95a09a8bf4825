"""Front ends: the command line, the web app, and tools for an assistant."""
