"""The login page, for everybody who has not logged in.

It is one file without scripts; Streamlit hears of nobody else, and so has no session of theirs.
"""

from html import escape
from pathlib import Path
from urllib.parse import quote

from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from cobalance.app.web.server import health, metrics
from cobalance.app.web.server.streamlit_internals import login_url, signed_in_user
from cobalance.workflows import Login

_LOGIN = "/login"
_OPEN = (health.PATH, metrics.PATH, "/auth/login", "/auth/logout", "/oauth2callback")
"""Paths that need no login; the metrics need a token of their own."""
_PAGE = Path(__file__).with_name("login.html").read_text(encoding="utf-8").rstrip()


class LoginCheck:
    """ASGI middleware that lets through who has logged in; others get the login page.

    `origin` is the scheme, host and port at which they log in.
    """

    def __init__(self, app: ASGIApp, login: Login, origin: str) -> None:
        self._app, self._origin = app, origin
        self._secret = login.auth["cookie_secret"]
        self._providers = login.providers
        self._page = _PAGE + "".join(map(_login_link, login.providers))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or a connection, or ask for the login."""
        if scope["type"] == "lifespan" or scope["path"] in _OPEN or self._knows(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._answer(Request(scope))(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        """Whether the person has logged in here: the cookie that Streamlit gave them says so."""
        user = signed_in_user(self._secret, HTTPConnection(scope).cookies)
        return user.get("is_logged_in") is True and user.get("origin") == self._origin

    def _answer(self, request: Request) -> Response:
        """The login itself, the page that leads there, or a refusal to a program."""
        headers = {"Cache-Control": "no-store"}
        provider = request.query_params.get("provider") or None
        if request.url.path == _LOGIN and provider in self._providers:
            # Valid for two minutes, so that the page cannot hold it.
            return RedirectResponse(login_url(provider or "default"))

        if "text/html" in request.headers.get("accept", ""):
            return HTMLResponse(self._page, headers=headers)
        return PlainTextResponse("Log in first, in a browser.\n", status_code=401, headers=headers)


def _login_link(provider: str | None) -> str:
    """A button of the login page, with the provider's name if it has one."""
    text = f"Log in with {provider}" if provider else "Log in"
    return f'<a role="button" href="{_LOGIN}?provider={quote(provider or "")}">{escape(text)}</a>'
