"""Command line, web app, and the services that wire stores, settings and jobs together."""
