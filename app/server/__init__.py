"""The web server: address, host checks, login, health endpoint and page head."""
