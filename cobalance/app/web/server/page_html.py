"""Middleware that adds `page.css` and `page.js` to the app's only HTML page."""

from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SCRIPT, _STYLES = (Path(__file__).with_name(f"page.{kind}").read_bytes() for kind in ("js", "css"))
_ADDED = b"<script>" + _SCRIPT + b"</script><style>" + _STYLES + b"</style>"
_HEAD = b"<head>"


class PageHtml:
    """ASGI middleware that inserts a script and styles into the app's only HTML page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; change the response if it is the HTML page."""
        if scope["type"] != "http" or scope["method"] != "GET" or "." in scope["path"]:
            await self._app(scope, receive, send)
            return
        # Uncompressed, so that it can be changed.
        headers = [pair for pair in scope["headers"] if pair[0] != b"accept-encoding"]
        started: Message | None = None
        body = b""

        async def send_changed(message: Message) -> None:
            nonlocal started, body
            if message["type"] == "http.response.start":
                kind = MutableHeaders(scope=message).get("content-type", "")
                if kind.startswith("text/html"):
                    started = message
                    return
            elif started is not None and message["type"] == "http.response.body":
                body += message.get("body", b"")
                if message.get("more_body"):
                    return
                page = body.replace(_HEAD, _HEAD + _ADDED, 1)
                MutableHeaders(scope=started)["content-length"] = str(len(page))
                await send(started)
                await send({"type": "http.response.body", "body": page})
                return
            await send(message)

        await self._app({**scope, "headers": headers}, receive, send_changed)
