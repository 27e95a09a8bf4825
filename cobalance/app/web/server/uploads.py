"""Limits of uploads: who may send files, how many, how much, and how long they are kept.

A browser sends a chosen file to the server's memory before any page sees it, and Streamlit takes
it from every open connection, logged in or not. Here a session may send files only once a page
has drawn a place for them (`UploadLimits.admit`), which pages do for editors alone.
"""

import asyncio
import secrets
import threading
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cobalance.app.web.server.security import LEFT
from cobalance.app.web.server.streamlit_internals import UPLOADS_PATH, close_session, remove_uploads

CONNECTION_HEADER = "x-cobalance-connection"
"""Names the WebSocket of a session; set by the server, whatever a client sends."""
MOST_FILES = 1000
"""The most files of a session."""
SESSIONS = 2
"""All sessions together may send this many times what one may."""

# How long files are kept once a connection broke: a browser may come back to its session.
_KEPT_S = 120.0
_MB = 1024 * 1024


class UploadRefusedError(Exception):
    """An upload beyond a limit, with its HTTP status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass
class _Session:
    """The uploads of a session, received and under way."""

    connection: str | None = None
    """None if it may send nothing more."""
    here: dict[str, int] = field(default_factory=dict)
    coming: dict[str, int] = field(default_factory=dict)

    @property
    def total_bytes(self) -> int:
        return sum(self.here.values()) + sum(self.coming.values())


class UploadLimits:
    """The uploads of all sessions, with their limits: one may have sent `most_mb` MB at most."""

    def __init__(self, most_mb: int) -> None:
        self.most_mb = most_mb
        self._lock = threading.Lock()
        self._sessions: dict[str, _Session] = {}
        self._connections: set[str] = set()

    def connect(self, connection: str) -> None:
        """Know of a connection, until `disconnect`."""
        with self._lock:
            self._connections.add(connection)

    def admit(self, session: str, connection: str) -> None:
        """Let a session send files from now on, until its connection ends or `forget`."""
        with self._lock:
            # A page may be drawn after its browser has left.
            if connection in self._connections:
                self._sessions.setdefault(session, _Session()).connection = connection

    def begin(self, session: str, size_bytes: int) -> str:
        """Count an upload before it is read; return its name for `end`.

        Raises
        ------
        UploadRefusedError
            The session may send none, or no more.
        """
        with self._lock:
            uploads = self._sessions.get(session)
            if uploads is None or uploads.connection is None:
                raise UploadRefusedError(
                    403, "This session may not send files. Open the page Data as an editor."
                )
            if len(uploads.here) + len(uploads.coming) >= MOST_FILES:
                raise UploadRefusedError(
                    413, f"These are more than {MOST_FILES:,} files. Put them into fewer."
                )
            if uploads.total_bytes + size_bytes > self.most_mb * _MB:
                raise UploadRefusedError(
                    413,
                    f"These are more than {self.most_mb:,} MB in all. Reload the page to send "
                    "others instead, or have whoever runs the app raise COBALANCE_UPLOAD_MB.",
                )

            # All sessions together, as their files share the server's memory.
            total_bytes = sum(other.total_bytes for other in self._sessions.values())
            if total_bytes + size_bytes > SESSIONS * self.most_mb * _MB:
                raise UploadRefusedError(
                    503, "Others are sending files, and there is no room for more. Try again later."
                )

            name = secrets.token_hex(8)
            uploads.coming[name] = size_bytes
            return name

    def end(self, session: str, name: str, file: str, *, arrived: bool) -> bool:
        """Count an upload as here, or not at all; return whether it may stay."""
        with self._lock:
            uploads = self._sessions.get(session)
            if uploads is None:
                return False

            size_bytes = uploads.coming.pop(name)
            # The connection ended while the file was on its way.
            if uploads.connection is None:
                self._drop_if_empty(session)
                return False
            if arrived:
                uploads.here[file] = size_bytes
            return True

    def remove(self, session: str, file: str) -> None:
        """Count a file no more."""
        with self._lock:
            uploads = self._sessions.get(session)
            if uploads is not None:
                uploads.here.pop(file, None)

    def disconnect(self, connection: str) -> list[str]:
        """Let the sessions of a connection send nothing more; return them."""
        with self._lock:
            self._connections.discard(connection)
            sessions = self._sessions.items()
            ended = [name for name, uploads in sessions if uploads.connection == connection]
            for name in ended:
                self._sessions[name].connection = None
            return ended

    def forget(self, session: str, *, even_if_admitted: bool = True) -> bool:
        """Free the files of a session, and let it send no more; return whether it did."""
        with self._lock:
            uploads = self._sessions.get(session)
            if uploads is None or (uploads.connection is not None and not even_if_admitted):
                return False
            uploads.connection = None
            uploads.here.clear()
            self._drop_if_empty(session)

        # Outside of the lock, which is for the counts alone.
        remove_uploads(session)
        return True

    def _drop_if_empty(self, session: str) -> None:
        uploads = self._sessions[session]
        if not uploads.here and not uploads.coming:
            del self._sessions[session]


UPLOADS = UploadLimits(600)
"""The uploads of this process, which pages and middleware share; COCO's annotations have 540 MB."""


class UploadCheck:
    """ASGI middleware that enforces upload limits and frees the files of ended sessions."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request or a connection."""
        if scope["type"] == "websocket":
            await self._connection(scope, receive, send)
        elif scope["type"] == "http" and scope["path"].startswith(UPLOADS_PATH):
            await self._file(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _connection(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Name the connection, and free its sessions' files when it ends."""
        connection = secrets.token_hex(8)
        UPLOADS.connect(connection)
        # A client cannot name it: a header of its own is dropped.
        name = CONNECTION_HEADER.encode()
        headers = [pair for pair in scope["headers"] if pair[0].lower() != name]
        headers.append((name, connection.encode()))
        code: int | None = None

        async def receiving() -> Message:
            nonlocal code
            message = await receive()
            if message["type"] == "websocket.disconnect":
                code = message.get("code")
            return message

        try:
            await self._app({**scope, "headers": headers}, receiving, send)
        finally:
            for session in UPLOADS.disconnect(connection):
                if code in LEFT:
                    _close(session)
                else:
                    # A connection that broke may come back to its session.
                    asyncio.get_running_loop().call_later(_KEPT_S, _close, session)

    async def _file(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send or remove a file."""
        session, _, file = scope["path"].removeprefix(UPLOADS_PATH).partition("/")
        is_done = False

        async def sending(message: Message) -> None:
            nonlocal is_done
            if message["type"] == "http.response.start":
                is_done = message["status"] < 300
            await send(message)

        if scope["method"] != "PUT":
            await self._app(scope, receive, sending)
            if is_done and scope["method"] == "DELETE":
                UPLOADS.remove(session, file)
            return

        try:
            name = UPLOADS.begin(session, _size_bytes(Headers(scope=scope)))
        except UploadRefusedError as refusal:
            answer = PlainTextResponse(f"{refusal}\n", status_code=refusal.status)
            await answer(scope, receive, send)
            return

        try:
            await self._app(scope, receive, sending)
        finally:
            if not UPLOADS.end(session, name, file, arrived=is_done):
                # The session ended meanwhile, and nobody else would free this file.
                remove_uploads(session, file)


def _size_bytes(headers: Headers) -> int:
    """The size that a request says; the server reads no more than that."""
    text = headers.get("content-length", "")
    # Fifteen digits are enough for any file.
    is_number = text.isascii() and text.isdigit() and len(text) < 16
    if "transfer-encoding" in headers or not is_number:
        raise UploadRefusedError(411, "An upload has to say its size in Content-Length.")
    return int(text)


def _close(session: str) -> None:
    """Free a session whose browser has not come back, with all that it keeps."""
    if UPLOADS.forget(session, even_if_admitted=False):
        close_session(session)
