"""Run the web app: address and port, Streamlit options, uvicorn.

Settings that `streamlit run` would read from files in the current folder or in the user's home are
set here instead: the app is the same wherever it is started.
"""

import errno
import logging
import os
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any

import streamlit as st
import uvicorn
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cobalance.app.web.server import health, metrics
from cobalance.app.web.server.login_check import LoginCheck
from cobalance.app.web.server.security import HostAndOriginCheck, MessageCheck
from cobalance.app.web.server.streamlit_internals import configure
from cobalance.app.web.server.uploads import UPLOADS, UploadCheck
from cobalance.base import OptionError
from cobalance.workflows import Login, Settings, is_loopback, read_login

SCRIPT = Path(__file__).parents[1] / "main.py"
PORT = 8501
"""The port when none is named and it is free."""

MOVED = {
    # Streamlit serves the first page here alone.
    "/diagnose": "/",
    # Pages of old links, which have become views of others.
    "/neighbourhood": "/?view=Around",
    "/find": "/?view=Similar",
    "/audit": "/annotate?annotate_view=Audit",
}
_FURTHER_PORTS = 20
# How long open connections may go on when the server ends.
_GOODBYE_S = 3
_PING_S = 30
_SCRIPT, _STYLES = (Path(__file__).with_name(f"page.{kind}").read_bytes() for kind in ("js", "css"))
_ADDED = b"<script>" + _SCRIPT + b"</script><style>" + _STYLES + b"</style>"
_HEAD = b"<head>"


@dataclass(frozen=True)
class Listening:
    """A checked configuration with its listening socket."""

    socket: socket.socket
    login: Login | None
    host: str | None
    """The name by which browsers find the app."""
    url: str
    """Where a browser on this machine finds the app; with logins, where everybody's does."""

    @property
    def port(self) -> int:
        """The port of the socket."""
        return self.socket.getsockname()[1]


def listen(
    settings: Settings,
    address: str = "127.0.0.1",
    port: int | None = None,
    host: str | None = None,
    *,
    without_login: bool = False,
) -> Listening:
    """Check the options and bind the port.

    Parameters
    ----------
    address : str
        The address of this machine to listen on.
    port : int or None
        The port; 0 for any free one, None for the usual one or, where it is taken, the next.
    host : str or None
        The name by which browsers find the app, where it is not this machine's own.
    without_login : bool
        Allow others than this machine's users to reach it without a login.

    Raises
    ------
    OptionError
        The address is not this machine's, or open to others without a login; the port is taken;
        or the login's settings cannot be used.
    """
    login = None
    if settings.cobalance_auth_file is not None:
        login = read_login(settings.cobalance_auth_file)
    elif settings.cobalance_editors or settings.cobalance_viewers:
        raise OptionError(
            "COBALANCE_EDITORS or COBALANCE_VIEWERS is set, but nobody logs in without "
            "COBALANCE_AUTH_FILE. Set that too, or unset them."
        )

    family, resolved = _resolve(address)
    if login is None and not without_login and not is_loopback(resolved):
        raise OptionError(
            f"--address {address}: others could reach the app, and change and drop "
            "datasets without logging in. Set COBALANCE_AUTH_FILE to have them log in, leave the "
            "address at 127.0.0.1, or accept it with --insecure-without-login."
        )

    # With a login the provider knows the port, and another one would not do.
    bound = _take_port(family, resolved, port, may_search=login is None)
    number = bound.getsockname()[1]
    if login is None:
        return Listening(bound, None, host, f"http://{_url_host(resolved)}:{number}")
    url = login.origin.replace("{port}", str(number))
    return Listening(bound, login, host or login.host, url)


def _resolve(address: str) -> tuple[socket.AddressFamily, str]:
    """Family and number of an address of this machine, which may be a name."""
    try:
        entries = socket.getaddrinfo(address, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise OptionError(
            f"--address {address!r} is not an address of this machine: {error.strerror}. "
            "Leave it at 127.0.0.1, or give 0.0.0.0 for all."
        ) from error

    # Under a name, IPv4 comes first: it is what the address in the browser's line means.
    family, _, _, _, place = min(entries, key=lambda entry: entry[0] != socket.AF_INET)
    return family, str(place[0])


def _url_host(address: str) -> str:
    if address in ("0.0.0.0", "::"):  # noqa: S104 -- compared, not bound
        return "localhost"
    if ":" in address:
        return f"[{address}]"
    return address


def _take_port(
    family: socket.AddressFamily, address: str, port: int | None, *, may_search: bool
) -> socket.socket:
    """Bind the port, or with `may_search` and no port named the first free one from `PORT` on."""
    first = PORT if port is None else port
    ports = [first]
    if port is None and may_search:
        # 0 is any free port, where all of these are taken.
        ports += [*range(PORT + 1, PORT + 1 + _FURTHER_PORTS), 0]
    # The address :: of IPv6 stands for all addresses of IPv4, too.
    is_dual = family == socket.AF_INET6 and socket.has_dualstack_ipv6()

    for number in ports:
        try:
            return socket.create_server((address, number), family=family, dualstack_ipv6=is_dual)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                continue
            reason = os.strerror(error.errno or errno.EINVAL)
            raise OptionError(
                f"--address {address} --port {number} cannot be used: {reason}. Choose an address "
                "of this machine and a port from 1024 on."
            ) from error

    remedy = "." if may_search else ", and change redirect_uri in COBALANCE_AUTH_FILE to it."
    raise OptionError(
        f"--port {first} is taken by another process. Stop it, or choose another port{remedy}"
    )


def _show_defect(error: Exception) -> bool:
    """Show a message without details; Streamlit has logged the traceback."""
    logging.getLogger(__name__).info("page failed", exc_info=error)
    st.error(
        "Something went wrong in cobalance itself. Reload the page; if it happens again, the "
        "terminal or log of `cobalance app` has what a report needs."
    )
    return True


def _redirect(request: Request) -> RedirectResponse:
    """Redirect a path of `MOVED`, with its parameters."""
    place, query = MOVED[request.url.path], request.url.query
    if query:
        place += ("&" if "?" in place else "?") + query
    return RedirectResponse(place)


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
                content_type = MutableHeaders(scope=message).get("content-type", "")
                # Sent with the body, whose length it says.
                if content_type.startswith("text/html"):
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


def serve(settings: Settings, listening: Listening, ready: Callable[[], None]) -> None:
    """Serve until interrupted; call `ready` once, when requests are answered."""
    UPLOADS.most_mb = settings.cobalance_upload_mb
    configure(
        {
            # It decides which folders a page may offer.
            "server.address": listening.socket.getsockname()[0],
            "server.port": listening.port,
            "browser.serverAddress": listening.host or "localhost",
            "browser.serverPort": listening.port,
            "server.cookieSecret": secrets.token_hex(),
            "server.maxUploadSize": settings.cobalance_upload_mb,
        }
    )

    server = uvicorn.Server(
        uvicorn.Config(
            _make_app(settings, listening, ready),
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            ws="websockets-sansio",
            ws_ping_interval=_PING_S,
            ws_ping_timeout=_PING_S,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=_GOODBYE_S,
        )
    )

    with closing(listening.socket):
        try:
            server.run(sockets=[listening.socket])
        except KeyboardInterrupt:
            return

    # Uvicorn has said why it did not start.
    if not server.started:
        raise SystemExit(1)


def _make_app(settings: Settings, listening: Listening, ready: Callable[[], None]) -> st.App:
    """The app with its endpoints for monitoring, and the checks that each request passes."""
    log = logging.getLogger(__name__)
    login, url = listening.login, listening.url
    monitor = metrics.Monitor(settings)

    @asynccontextmanager
    async def announce(_: st.App) -> AsyncIterator[dict[str, Any]]:
        ready()
        log.info("started at %s, %s login", url, "without" if login is None else "with")
        # While the browser is on its way: the first visitor need not wait for it.
        Thread(target=import_module, args=["cobalance.app.web.main"], daemon=True).start()
        yield {}
        await monitor.close()
        log.info("stopped")

    # Requests pass the first one first: who is not logged in comes no further.
    origin = url if login else None
    middleware = [Middleware(HostAndOriginCheck, host=listening.host, origin=origin)]
    app_secrets = None
    if login is not None:
        app_secrets = {"auth": dict(login.auth)}
        middleware.append(Middleware(LoginCheck, login=login, origin=url))
    middleware += [Middleware(MessageCheck), Middleware(UploadCheck), Middleware(PageHtml)]
    return st.App(
        SCRIPT,
        secrets=app_secrets,
        lifespan=announce,
        routes=[
            Route(health.PATH, health.DatabaseProbe(settings).answer),
            Route(metrics.PATH, monitor.answer),
            *(Route(path, _redirect) for path in MOVED),
        ],
        middleware=middleware,
        on_script_error=_show_defect,
    )
