"""The web server: address and port, Host and Origin checks, login, health endpoint."""
