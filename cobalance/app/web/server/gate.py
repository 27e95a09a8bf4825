"""Before the login there is nothing of the app, and sessions send only what pages need.

Whoever has not logged in gets the login page, which is one file without scripts; Streamlit hears
of nobody else, and so has no session of theirs.
"""

import json
from html import escape
from urllib.parse import quote

from google.protobuf.message import DecodeError
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.user_info import generate_login_redirect_url
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from cobalance.app.web.server import health
from cobalance.workflows.login import Login

_LOGIN = "/login"
_OPEN = (health.PATH, "/auth/login", "/auth/logout", "/oauth2callback")
_MESSAGES = {"rerun_script", "stop_script", "app_heartbeat", "file_urls_request"}
_OPERATIONS = {"deferred_file", "dataframe_chunk"}
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>cobalance</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<style>
  :root { color-scheme: light dark; font: 15px/1.6 system-ui, sans-serif; text-align: center }
  main { max-width: 30rem; margin: 10vh auto }
  a { display: block; margin: 1rem; padding: .5rem; color: #FFFFFF; background: #5753C6 }
</style>
<main><h1>cobalance</h1><p>Log in to see the datasets.</p>"""


class LoginCheck:
    """ASGI middleware that lets through who has logged in; others get the login page.

    Parameters
    ----------
    login : Login
        How people log in.
    origin : str
        Scheme, host and port at which they do.
    """

    def __init__(self, app: ASGIApp, login: Login, origin: str) -> None:
        self._app, self._origin = app, origin
        self._secret = login.auth["cookie_secret"]
        self._providers = login.providers
        self._page = _PAGE + "".join(
            f'<a role="button" href="{_LOGIN}?provider={quote(name or "")}">'
            f"{escape(f'Log in with {name}' if name else 'Log in')}</a>"
            for name in login.providers
        )

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
        cookies = HTTPConnection(scope).cookies

        def signed(name: str) -> bytes | None:
            return decode_signed_value(self._secret, name, cookies.get(name, ""))

        user = json.loads(get_cookie_with_chunks(signed, USER_COOKIE_NAME) or "{}")
        return user.get("is_logged_in") is True and user.get("origin") == self._origin

    def _answer(self, asked: Request) -> Response:
        kept = {"Cache-Control": "no-store"}
        provider = asked.query_params.get("provider") or None
        if asked.url.path == _LOGIN and provider in self._providers:
            # Valid for two minutes, so that the page cannot hold it.
            return RedirectResponse(generate_login_redirect_url(provider or "default"))
        if "text/html" in asked.headers.get("accept", ""):
            return HTMLResponse(self._page, headers=kept)
        return PlainTextResponse("Log in first, in a browser.\n", status_code=401, headers=kept)


class MessageCheck:
    """ASGI middleware that drops what no page sends over a WebSocket.

    Streamlit would do it for anybody: empty the caches of all, or write files beside the app.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a connection."""

        async def receiving() -> Message:
            while (message := await receive())["type"] == "websocket.receive":
                if _is_needed(message.get("bytes") or b""):
                    break
            return message

        await self._app(scope, receiving if scope["type"] == "websocket" else receive, send)


def _is_needed(sent: bytes) -> bool:
    try:
        message = BackMsg.FromString(sent)
    except DecodeError:
        return False
    operation = message.backend_operation_request.WhichOneof("payload")
    return message.WhichOneof("type") in _MESSAGES or operation in _OPERATIONS
