"""Workers that the web app starts on its own machine, and that end with it."""
