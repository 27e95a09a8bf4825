"""hf:// addresses, read by huggingface_hub from a server that answers as the hub does."""

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import huggingface_hub
import pyarrow.parquet as pq
import pytest

from cobalance.base.errors import InputError
from cobalance.ingest.hub import local_path
from cobalance.ingest.load import read_annotations
from tests.ingest.published.hubs import _TRUTH, _dataset

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """A server with one dataset, what was asked of it, and what it takes for a token."""

    files: dict[str, bytes]
    token: str | None = None
    asked: list[str] = field(default_factory=list)
    sent: int = 0

    def answer(self, path: str) -> Any:
        """JSON for an address of the API; None where there is nothing."""
        if re.fullmatch(r"/api/datasets/me/streets(/revision/[^/]+)?", path):
            return {"id": "me/streets", "sha": COMMIT, "siblings": []}
        if found := re.fullmatch(r"/api/datasets/me/streets/tree/[^/]+(?:/(.+))?", path):
            return [
                {
                    "type": "file",
                    "path": name,
                    "size": len(content),
                    "oid": sha1(content).hexdigest(),
                }
                for name, content in self.files.items()
                if name.startswith(found[1] or "")
            ]
        return None


class Handler(BaseHTTPRequestHandler):
    """Answers by the hub that the server has."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        hub: Hub = self.server.hub  # type: ignore[attr-defined]
        path = self.path.partition("?")[0]
        hub.asked.append(f"{self.command} {path}")
        status, headers, body = 404, {}, b'{"error": "Not found"}'
        if hub.token and self.headers.get("Authorization") != f"Bearer {hub.token}":
            status, body = 401, b'{"error": "Unauthorized"}'
        elif (found := hub.answer(path)) is not None:
            status, body = 200, json.dumps(found).encode()
            headers["Content-Type"] = "application/json"
        elif name := re.fullmatch(r"/datasets/me/streets/resolve/[^/]+/(.+)", path):
            status, body = 200, hub.files[name[1]]
            headers = {"X-Repo-Commit": COMMIT, "ETag": f'"{sha1(body).hexdigest()}"'}
            if asked := re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")):
                first, last = int(asked[1]), min(int(asked[2]), len(body) - 1)
                headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
                status, body = 206, body[first : last + 1]
            hub.sent += len(body)
        self.send_response(status)
        for key, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    files = {"README.md": b"# Streets\n"}
    for split, n_shards in (("train", 2), ("test", 1)):
        whole = _dataset(split)
        for number in range(n_shards):
            part = tmp_path / "part.parquet"
            whole.shard(n_shards, number, contiguous=True).to_parquet(part)
            files[f"data/{split}-{number:05}-of-{n_shards:05}.parquet"] = part.read_bytes()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.hub = Hub(files)  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", address)
    template = f"{address}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    yield server.hub  # type: ignore[attr-defined]
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_dataset_is_read_as_its_files_are_and_kept_without_pixels(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = local_path("hf://datasets/me/streets")
    found = read_annotations(path)
    seen = {
        Path(one.uri).name: (one.class_name, one.split, {it.concept for it in one.mentions})
        for one in found.records()
    }
    assert seen == {
        name: (truth.class_name, truth.split, truth.concepts) for name, truth in _TRUTH.items()
    }
    assert path.name == "streets"
    kept = sorted(path.rglob("*.parquet"))
    assert [it.name for it in kept] == sorted(Path(name).name for name in list(hub.files)[1:])
    assert "bytes" not in str(pq.read_schema(kept[0]).field("image").type)
    asked = len(hub.asked)
    assert local_path("hf://datasets/me/streets/data") == path / "data"
    assert not [it for it in hub.asked[asked:] if "resolve" in it]


def test_a_token_comes_from_the_environment(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.token = "hf_secret"
    with pytest.raises(
        InputError, match=r"cannot be read from the hub.*a token in HF_TOKEN"
    ) as said:
        local_path("hf://datasets/me/streets")
    monkeypatch.setenv("HF_TOKEN", hub.token)
    assert local_path("hf://datasets/me/streets").is_dir()
    assert hub.token not in str(said.value)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("hf://datasets/me/towns", "hf://datasets/me/towns: cannot be read from the hub"),
        ("hf://datasets/me/streets/other", "cannot be read from the hub|has no Parquet files"),
        ("hf://datasets/streets", "cannot be read from the hub"),
    ],
)
def test_what_the_hub_does_not_have_is_named(hub: Hub, address: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        local_path(address)


def test_without_parquet_the_hubs_own_is_named(hub: Hub) -> None:
    hub.files = {"README.md": b"# Streets"}
    with pytest.raises(InputError, match=r"no Parquet files.*me/streets@refs/convert/parquet"):
        local_path("hf://datasets/me/streets")


def test_a_file_that_is_no_parquet_leaves_nothing(hub: Hub, tmp_path: Path) -> None:
    hub.files = {"data/train.parquet": b"PAR1 and no more"}
    with pytest.raises(InputError, match="no Parquet file that can be read"):
        local_path("hf://datasets/me/streets")
    assert not [*(tmp_path / "cache").rglob("*.parquet")]


def test_without_a_connection_there_is_one_line(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(InputError, match=r"cannot be read from the hub .*connection") as said:
        local_path("hf://datasets/me/streets")
    assert len(str(said.value).splitlines()) == 1
