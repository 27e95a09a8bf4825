"""Host and Origin checks, content security policy, log of failures, filter of WebSocket messages.

A page of another site can make a browser connect to a server on loopback. Such a request shows by
its Host (DNS rebinding) or its Origin (cross-site WebSocket), and is refused.
"""

import logging
import socket
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cobalance.app.web.server.streamlit_internals import filter_message

# Streamlit's page has an inline script, makes functions from text for charts, and loads the
# scripts of components from blobs. Nothing goes to or comes from another host.
_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "worker-src 'self' blob:",
        "frame-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
LEFT = (1000, 1001)
"""WebSocket close codes of a page that was closed or left."""

_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_MESSAGES = {"rerun_script", "stop_script", "app_heartbeat", "file_urls_request"}
_OPERATIONS = {"deferred_file", "dataframe_chunk"}


class HostAndOriginCheck:
    """ASGI middleware that refuses unknown hosts and origins, and adds security headers.

    Parameters
    ----------
    host : str or None
        The name by which browsers find the app, beside localhost, this machine's own name and
        addresses in numbers, which no one can make point elsewhere.
    origin : str or None
        With logins, scheme, host and port at which people log in; no other origin connects.
    """

    def __init__(self, app: ASGIApp, host: str | None = None, origin: str | None = None) -> None:
        self._app = app
        self._origin = origin
        self._host = host and host.lower()
        self._names = {"localhost", socket.gethostname().lower()}
        if self._host is not None:
            self._names.add(self._host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        headers, send = Headers(scope=scope), _with_headers(scope, send)
        host = headers.get("host", "")
        is_websocket = scope["type"] == "websocket"
        is_allowed = self._is_known(host)
        if is_allowed and is_websocket:
            is_allowed = self._may_connect(headers.get("origin"), host, scope["scheme"])

        if is_allowed:
            await self._app(scope, receive, send)
        elif is_websocket:
            await send({"type": "websocket.close", "code": 1008})
        else:
            refusal = PlainTextResponse(
                f"cobalance does not answer to the name {_name_in(host)!r}. If it is right, start "
                "`cobalance app` with --host and this name.\n",
                status_code=421,
            )
            await refusal(scope, receive, send)

    def _is_known(self, host: str) -> bool:
        """Whether the app answers to a name: one of its own, or any address in numbers."""
        name = _name_in(host)
        if name in self._names:
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True

    def _may_connect(self, origin: str | None, host: str, scheme: str) -> bool:
        """Whether a WebSocket of this origin is allowed; programs that are no browser send none.

        Behind a proxy, which --host speaks of, the scheme may be another one than here.
        """
        if origin is None:
            return True
        if self._origin is not None:
            return origin == self._origin

        schemes, names = {scheme.replace("ws", "http")}, {host}
        if self._host:
            schemes.update(("http", "https"))
            names.add(self._host)
        return any(origin == f"{scheme}://{name}" for scheme in schemes for name in names)


def _name_in(netloc: str) -> str:
    """The host name in lower case, without port; empty if it cannot be parsed."""
    try:
        parts = urlsplit(f"//{netloc}")
        # Read for its error alone, which it raises on a port that is no number.
        _ = parts.port
        return (parts.hostname or "").rstrip(".")
    except ValueError:
        return ""


def _with_headers(scope: Scope, send: Send) -> Send:
    """Add headers to the answer, and log one that refuses or fails."""
    log = logging.getLogger(__name__)

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(_HEADERS)

        # A WebSocket has no status, but a code with which it closes.
        status = message.get("status") or message.get("code", 0)
        if status >= 400 and status not in LEFT:
            method = scope.get("method", "WebSocket")
            client = (scope["client"] or ["?"])[0]
            where = method, scope["path"], client
            log.info("%s %s from %s: %s", *where, status, extra={"run": {"status": status}})
        await send(message)

    return sending


class MessageCheck:
    """ASGI middleware that drops WebSocket messages of kinds that no page sends.

    Streamlit would do it for anybody: empty the caches of all, or write files beside the app. A
    click that a page sends twice goes on once.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a connection."""

        async def receiving() -> Message:
            while (message := await receive())["type"] == "websocket.receive":
                content = filter_message(message.get("bytes") or b"", _MESSAGES, _OPERATIONS)
                if content is not None:
                    return {**message, "bytes": content}
            return message

        await self._app(scope, receiving if scope["type"] == "websocket" else receive, send)
