"""The web app: a folder a page, what pages share, and the server."""
