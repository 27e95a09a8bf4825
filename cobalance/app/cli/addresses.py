"""Addresses of the web app's pages, to be printed."""

from urllib.parse import urlencode

from cobalance.workflows.login import read_login
from cobalance.workflows.settings import Settings

_PORT = "8501"  # of the web app, unless it is told another


def page_address(page: str, **query: str) -> str:
    """The address of a page with a query, where people log in at the address of the login."""
    file = Settings.from_environment().cobalance_auth_file
    origin = "http://127.0.0.1:{port}" if file is None else read_login(file).origin
    return f"{origin.replace('{port}', _PORT)}/{page}?{urlencode(query)}"
