"""Image roots on HTTP servers: what is found, and which redirects are followed."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from cobalance.vision.images.image_file import ImageFileError
from cobalance.vision.images.roots import ImageRoots

Serve = Callable[[dict[str, bytes | str]], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server of files (bytes) and redirects (text); gives its address."""
    servers = []

    def start(paths: dict[str, bytes | str]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer = paths.get(self.path)
                if isinstance(answer, str):
                    self.send_response(302)
                    self.send_header("Location", answer)
                else:
                    self.send_response(404 if answer is None else 200)
                content = answer if isinstance(answer, bytes) else b""
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(content)

            do_HEAD = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


def test_files_of_a_server(serve: Serve) -> None:
    address = serve({"/images/a.png": b"pixels"})
    roots = ImageRoots([f"{address}/images"])
    assert roots.find("a.png").read() == b"pixels"
    assert roots.find(f"{address}/images/a.png").read() == b"pixels"
    with pytest.raises(ImageFileError, match="no such file"):
        roots.find("b.png")


def test_redirects_stay_on_the_server(serve: Serve) -> None:
    secret = serve({"/secret.png": b"secret"})
    paths: dict[str, bytes | str] = {
        "/moved.png": "/a.png",
        "/a.png": b"pixels",
        "/port.png": f"{secret}/secret.png",
        "/twice.png": "/port.png",
    }
    address = serve(paths)
    paths["/host.png"] = address.replace("127.0.0.1", "localhost") + "/a.png"
    roots = ImageRoots([address])
    assert roots.find("moved.png").read() == b"pixels"
    for name in ("port.png", "twice.png", "host.png"):
        with pytest.raises(ImageFileError, match="redirects to another one"):
            roots.find(name)


def test_a_redirect_between_finding_and_reading(serve: Serve) -> None:
    secret = serve({"/secret.png": b"secret"})
    paths: dict[str, bytes | str] = {"/a.png": b"pixels"}
    found = ImageRoots([serve(paths)]).find("a.png")
    paths["/a.png"] = f"{secret}/secret.png"
    with pytest.raises(ImageFileError, match="redirects to another one"):
        found.read()


def test_redirects_of_a_chained_url(serve: Serve) -> None:
    secret = serve({"/secret.zip": b"secret"})
    address = serve({"/images.zip": f"{secret}/secret.zip"})
    with pytest.raises(ImageFileError, match="redirects to another one"):
        ImageRoots([f"zip://train::{address}/images.zip"]).find("a.png")
