"""Servers on loopback that paint seeded images, by OpenAI's API or ComfyUI's, with drawn faults."""

import base64
import email.policy
import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from PIL import Image

from cobalance.vision.images.arrays import ImageArray

FAULTS = ("429", "500", "slow", "cut", "size")
"""Those that a server may draw; `Painter.paint` names further ones."""
COSTLY = ("500 late", "slow", "cut", "size", "truncated", "model")
"""Faults after which the image was painted."""
MODEL = "painter"


def painted_pixels(seed: int, size: tuple[int, int]) -> ImageArray:
    """What a server paints for a seed, of height and width: one colour for each 8 x 8 pixels."""
    rows, columns = -(-size[0] // 8), -(-size[1] // 8)
    colours = np.random.default_rng(seed).integers(0, 256, (rows, columns, 3), dtype=np.uint8)
    return colours.repeat(8, axis=0).repeat(8, axis=1)[: size[0], : size[1]]


def png_of(pixels: ImageArray) -> bytes:
    content = BytesIO()
    Image.fromarray(pixels).save(content, "PNG")
    return content.getvalue()


class Painter:
    """What a server has been asked for, and which faults it has.

    Parameters
    ----------
    next_fault : callable
        The fault of the next request for an image; empty for none. Called by one thread at a time.

    Attributes
    ----------
    painted : Counter of int
        Images that were painted, by seed, delivered or not.
    delivered : Counter of int
        Images that were sent whole.
    requests : list of dict
        The fields of each request for an image.
    """

    def __init__(self, next_fault: Callable[[], str]) -> None:
        self._next_fault, self.lock = next_fault, threading.Lock()
        self.url = ""
        self.painted, self.delivered = Counter[int](), Counter[int]()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.paths: list[str] = []
        self.in_flight = self.most_in_flight = 0
        self.stopping = threading.Event()
        # Of ComfyUI.
        self.uploads: dict[str, bytes] = {}
        self.runs: dict[str, tuple[str, int, tuple[int, int]]] = {}
        self.cancelled: list[str] = []

    def begin(self, fields: dict[str, Any], headers: Mapping[str, str]) -> str:
        """Note a request; give its fault."""
        with self.lock:
            self.requests.append(fields)
            self.headers.append(headers)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            fault = self._next_fault()
            if fault in COSTLY or not fault:
                self.painted[int(fields["seed"])] += 1
            return fault

    def end(self) -> None:
        with self.lock:
            self.in_flight -= 1


class Handler(BaseHTTPRequestHandler):
    """What both protocols share."""

    protocol_version = "HTTP/1.1"
    painter: Painter

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def form(self) -> dict[str, Any]:
        """The fields of a multipart body: texts, and bytes of files."""
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        message = BytesParser(policy=email.policy.HTTP).parsebytes(head + self.body())
        fields: dict[str, Any] = {}
        for part in message.iter_parts():
            name = str(part.get_param("name", header="content-disposition"))
            content = part.get_payload(decode=True)
            assert isinstance(content, bytes)
            fields[name] = content if part.get_filename() else content.decode()
            if part.get_filename():
                fields[f"{name} file"] = part.get_filename()
        return fields

    def send(
        self,
        content: bytes,
        status: int = 200,
        kind: str = "application/json",
        headers: Mapping[str, str] | None = None,
        cut: bool = False,
    ) -> None:
        # Whoever asked may have given up, or have been killed.
        with suppress(ConnectionError):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if cut else content)
        if cut:
            self.close_connection = True

    def refuse(self, fault: str) -> bool:
        """Answer a fault that brings no image; False for any other."""
        if fault.isdigit():
            error = {"error": {"message": f"as drawn; {self.headers.get('Authorization')}"}}
            self.send(json.dumps(error).encode(), int(fault), headers={"Retry-After": "0"})
        elif fault == "500 late":
            self.send(b"{}", 500)
        elif fault == "redirect":
            self.send(b"", 302, headers={"Location": "http://user:hunter2@127.0.0.1:1/v1"})
        elif fault == "html":
            self.send(b"<html>Welcome</html>", kind="text/html")
        elif fault == "packed":
            self.send(b"\x1f\x8b", headers={"Content-Encoding": "gzip"})
        elif fault == "slow":
            self.painter.stopping.wait(30)
            self.send(b"{}", 500)
        else:
            return False
        return True


class OpenAiHandler(Handler):
    """OpenAI's API of images, as far as edits go."""

    def do_GET(self) -> None:
        self.painter.paths.append(self.path)
        if self.path == "/v1/models":
            self.send(json.dumps({"object": "list", "data": [{"id": MODEL}]}).encode())
        else:
            self.send(b"{}", 404)

    def do_POST(self) -> None:
        self.painter.paths.append(self.path)
        fields = self.form()
        if self.path != "/v1/images/edits":
            self.send(b"{}", 404)
            return
        fault = self.painter.begin(fields, self.headers)
        try:
            self.answer(fields, fault)
        finally:
            self.painter.end()

    def answer(self, fields: dict[str, Any], fault: str) -> None:
        if self.refuse(fault):
            return
        width, height = map(int, fields["size"].split("x"))
        seed = int(fields["seed"])
        if fault.startswith("size"):
            width, height = width * 2, height * 2
        content = png_of(painted_pixels(seed, (height, width)))
        if fault == "truncated":
            content = content[: len(content) // 2]

        first: dict[str, Any] = {
            "b64_json": base64.b64encode(content).decode(),
            "revised_prompt": fields["prompt"].upper(),
        }
        if fault == "text":
            first = {"text": "I cannot paint this."}
        if fault == "url":
            first = {"url": "http://127.0.0.1:1/image.png"}
        body: dict[str, Any] = {
            "created": 1_700_000_000 + seed % 1000,
            "data": [first],
            "usage": {"total_tokens": len(fields["prompt"])},
        }
        if fault == "size declared":
            body["size"] = f"{width}x{height}"
        if fault == "model":
            body["model"] = "another"
        headers = {"X-Request-Id": f"r-{seed}"}
        self.send(json.dumps(body).encode(), headers=headers, cut=fault == "cut")
        if not fault:
            self.painter.delivered[seed] += 1


class ComfyHandler(Handler):
    """ComfyUI's queue, as far as its routes are used; a run is painted when it is queued."""

    def do_GET(self) -> None:
        place = urlsplit(self.path)
        painter = self.painter
        painter.paths.append(place.path)
        if place.path.startswith("/history/"):
            self.show_history(place.path.removeprefix("/history/"))
        elif place.path == "/view":
            self.show_image(parse_qs(place.query, keep_blank_values=True)["filename"][0])
        elif place.path == "/queue":
            running = [[0, run, {}, {}, []] for run, (fault, *_) in painter.runs.items() if fault]
            self.send(json.dumps({"queue_running": running, "queue_pending": []}).encode())
        else:
            self.send(b"{}", 404)

    def show_history(self, run: str) -> None:
        fault = self.painter.runs[run][0]
        if fault == "slow":
            self.send(b"{}")
            return
        entry: dict[str, Any] = {"status": {"status_str": "success", "completed": True}}
        entry["outputs"] = {
            "9": {"images": [{"filename": f"{run}.png", "subfolder": "", "type": "temp"}]}
        }
        if fault == "error":
            failure = ["execution_error", {"exception_message": "CUDA out of memory"}]
            entry = {"status": {"status_str": "error", "messages": [failure]}, "outputs": {}}
        if fault == "nothing":
            entry["outputs"] = {}
        self.send(json.dumps({run: entry}).encode())

    def show_image(self, file: str) -> None:
        run = file.removesuffix(".png")
        fault, seed, size = self.painter.runs[run]
        if fault in ("cut", "html"):
            # The next look gets it whole.
            self.painter.runs[run] = ("", seed, size)
        if self.refuse("html" if fault == "html" else ""):
            return
        if fault == "size":
            size = size[0] * 2, size[1] * 2
        content = png_of(painted_pixels(seed, size))
        if fault == "truncated":
            content = content[: len(content) // 2]
        self.send(content, kind="image/png", cut=fault == "cut")
        if not fault:
            self.painter.delivered[seed] += 1

    def do_POST(self) -> None:
        painter = self.painter
        painter.paths.append(self.path)
        if self.path == "/upload/image":
            fields = self.form()
            painter.uploads[fields["image file"]] = fields["image"]
            answer = {"name": fields["image file"], "subfolder": "", "type": fields["type"]}
            self.send(json.dumps(answer).encode())
        elif self.path == "/prompt":
            self.queue(json.loads(self.body())["prompt"])
        elif self.path == "/queue":
            painter.cancelled += [f"delete {run}" for run in json.loads(self.body())["delete"]]
            self.send(b"")
        elif self.path == "/interrupt":
            painter.cancelled.append(f"interrupt {json.loads(self.body())['prompt_id']}")
            self.send(b"")
        else:
            self.send(b"{}", 404)

    def queue(self, nodes: dict[str, Any]) -> None:
        seed = int(nodes["3"]["inputs"]["seed"])
        fields = {"seed": seed, "prompt": nodes["6"]["inputs"]["text"], "nodes": nodes}
        fault = self.painter.begin(fields, self.headers)
        self.painter.end()
        if fault != "slow" and self.refuse("" if fault == "html" else fault):
            return
        uploaded = Image.open(BytesIO(self.painter.uploads[nodes["1"]["inputs"]["image"]]))
        run = f"{len(self.painter.requests):08d}-{seed}"
        self.painter.runs[run] = (fault, seed, (uploaded.height, uploaded.width))
        self.send(json.dumps({"prompt_id": run, "number": 1, "node_errors": {}}).encode())


WORKFLOW: dict[str, Any] = {
    "1": {"class_type": "LoadImage", "inputs": {"image": "a.png"}, "_meta": {"title": "image"}},
    "2": {
        "class_type": "LoadImageMask",
        "inputs": {"image": "b.png", "channel": "red"},
        "_meta": {"title": "mask"},
    },
    "3": {
        "class_type": "KSampler",
        "inputs": {"seed": 0, "steps": 20, "model": ["4", 0], "positive": ["6", 0]},
        "_meta": {"title": "Seed"},
    },
    "4": {
        "class_type": "CheckpointLoaderSimple",
        "inputs": {"ckpt_name": "sd.safetensors"},
        "_meta": {"title": "Load Checkpoint"},
    },
    "6": {"class_type": "CLIPTextEncode", "inputs": {"text": ""}, "_meta": {"title": "prompt"}},
    "9": {
        "class_type": "SaveImage",
        "inputs": {"images": ["3", 0], "filename_prefix": "ComfyUI"},
        "_meta": {"title": "output"},
    },
}
"""A workflow with the titles that are filled in."""


class ImageServer(ThreadingHTTPServer):
    """Answers each request in a thread; clients may be killed."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def image_server(
    kind: type[Handler] = OpenAiHandler, next_fault: Callable[[], str] = str
) -> Iterator[Painter]:
    """Serve images on a free port of 127.0.0.1 for the length of a ``with`` block."""
    painter = Painter(next_fault)
    handler = type("Bound", (kind,), {"painter": painter})
    server = ImageServer(("127.0.0.1", 0), handler)
    address = f"http://127.0.0.1:{server.server_address[1]}"
    painter.url = address + ("/v1" if kind is OpenAiHandler else "")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield painter
    finally:
        painter.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()
