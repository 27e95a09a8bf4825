"""`cobalance app`: start the web app."""

import os
import stat
import sys
import threading
import webbrowser
from importlib.util import find_spec
from typing import Annotated
from urllib.parse import urlencode

import typer

from cobalance.app.cli.shared import notes, out, progress_bars, read_environment
from cobalance.app.web.server import serve
from cobalance.base import MissingExtraError
from cobalance.workflows import store as store_access
from cobalance.workflows.demo import loading, urbancars


def app(
    demo: Annotated[bool, "Open the demo dataset; load it first if it is not there."] = False,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, show_default=False),
        "The port; 0 for any free one. Without it 8501, or the next that is free.",
    ] = None,
    address: Annotated[str, "The address of this machine to listen on."] = "127.0.0.1",
    host: Annotated[
        str | None,
        typer.Option(metavar="NAME", show_default=False),
        "The host name that browsers use, such as a proxy's, if it is neither this machine's nor "
        "that of the login.",
    ] = None,
    insecure_without_login: Annotated[
        bool,
        "Listen on an address that others can reach although nobody has to log in: "
        "whoever reaches it may change and drop datasets.",
    ] = False,
    no_browser: Annotated[bool, "Do not open a browser."] = False,
) -> None:
    """Start the web app on the store of all other commands; Ctrl-C ends it.

    It listens on this machine alone, and everybody who reaches it may change things. To open it to
    others, have them log in with any OpenID Connect provider: COBALANCE_AUTH_FILE names a file such
    as

        [auth]
        redirect_uri = "https://data.example.org/oauth2callback"
        cookie_secret = "..."    # openssl rand -hex 32
        client_id = "..."
        client_secret = "..."
        server_metadata_url = "https://login.example.org/.well-known/openid-configuration"

    Then COBALANCE_EDITORS may change things, and the others may look. Who they are, is what the
    provider calls a verified address.

    GET /healthz answers 200 while the database does, else 503, without a login. GET /metrics is for
    Prometheus, with the token of COBALANCE_METRICS_TOKEN_FILE. All else, also /_stcore/metrics, is
    for people who have logged in.
    """
    settings = read_environment()
    if find_spec("streamlit") is None:
        # Whoever has no database to connect to needs the local one, too.
        has_server = settings.neo4j_uri is not None or find_spec("jpype") is not None
        extra = "app" if has_server else "local,app"
        raise MissingExtraError("The web app", extra)

    listening = serve.listen(settings, address, port, host, without_login=insecure_without_login)
    if port is None and listening.port != serve.PORT:
        notes.print(f"Port {serve.PORT} is taken, so the app is on {listening.port}.")
    secret = settings.cobalance_auth_file
    if secret is not None and secret.stat().st_mode & stat.S_IROTH:
        notes.print(f"Every user of this machine can read {secret}; run `chmod 600` on it.")

    url = listening.url
    if demo:
        url += f"/?{urlencode({'dataset': urbancars.NAME})}"

    def announce_and_open() -> None:
        out.print(f"cobalance is at {url}  (Ctrl-C ends it)", soft_wrap=True)
        if not no_browser and _has_display():
            # Some browsers block until the page loads, which needs `serve` to run.
            threading.Thread(target=webbrowser.open, args=[url], daemon=True).start()

    with progress_bars() as progress:
        store = store_access.open_store(settings, progress)
    # Open for as long as the app runs: a local server that nobody is connected to stops, and the
    # next page would wait for its start.
    with store:
        if demo:
            with progress_bars() as progress:
                loading.ensure_demo(store, progress)
        serve.serve(settings, listening, announce_and_open)


def _has_display() -> bool:
    """Whether a browser can open a window, rather than take over the terminal."""
    if sys.platform.startswith("linux"):
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return True
