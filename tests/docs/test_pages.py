"""Pages from top to bottom, in an empty home: commands in a shell, cells in Jupyter.

What follows a prompt is entered, and cells run one after another in a kernel; what they print is
compared with what the page shows. All other blocks with commands are named here with the reason why
nobody enters them in a test; `tests/docs/test_commands.py` parses their commands.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import run_kernel

from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.state import list_datasets
from cobalance.workflows.settings import Settings
from tests.docs.pages import ROOT, Block, Reader, blocks_of, compare

TIMEOUT_S = 300  # of a cell
PAGES = {
    page.stem: blocks_of(f"docs/{page.name}")
    for page in sorted((ROOT / "docs").glob("*.md"))
    if page.stem != "cli"  # which is written from the commands
}
ELSEWHERE = {
    "extending": "tests/docs/test_extending.py",
    "graph": "tests/docs/test_graph.py",
    "scale": "tests/workflows/in_files",
}
"""Pages whose Python another test runs."""
MODEL = "weights of a model"
COCO = "COCO's files"
NOT_RUN: dict[str, dict[str, str]] = {
    "annotate": {
        "cobalance annotate cost": MODEL,
        "cobalance annotate label birds --annotator owlv2": MODEL,
        "cobalance annotate label birds --annotator vlm": "a model behind an address",
        "cobalance annotate extract": MODEL,
        "cobalance annotate measure": "CelebA's and CUB's files",
        "cobalance annotate audit": "people; `cobalance demo --annotate` has such an audit",
    },
    "captions": {"cobalance ingest instances_train2017.json": COCO},
    "evaluation": {
        "cobalance evaluate clusters": COCO,
        "cobalance evaluate score results.json": COCO,
        "cobalance evaluate score --images made --real-images": MODEL,
        "cobalance evaluate score --images made --metric": MODEL,
        "cobalance evaluate train": "a network's weights, and a GPU",
        "cobalance plan-edits coco": COCO,
        "cobalance evaluate study": "people",
    },
    "extending": {
        "mkdir -p plugins": "`tests/docs/test_extending.py` runs it",
        "cp -r docs/cobalance-mine": "`tests/support/own_plugins.py` installs the package",
    },
    "gate": {"# once": "`tests/app/cli/test_gate.py` and `tests/e2e/test_gate_in_projects.py`"},
    "record": {
        "cobalance record train.csv": "`tests/app/cli/test_record.py`",
        "cobalance ingest bias.json": "`tests/workflows/record`",
    },
    "formats": {"cobalance ingest instances_train2017.json": COCO},
    "generation": {
        "cobalance ingest instances_train2017.json": COCO,
        "cobalance ingest instances.json": "photographs of people, and weights of a model",
        "cobalance enqueue cars --recipe inpaint --pilot": f"{MODEL}; `tests/e2e/test_pilot.py`",
        "cobalance enqueue cars --recipe http": "servers; `tests/e2e/test_remote_images.py`",
    },
    "job-settings": {"cobalance enqueue": "`docs/generation.md` has its dataset and plan"},
    "graph": {"cobalance store connection": "`tests/app/cli/test_store.py` runs it"},
    "operate": {
        "docker compose": "a Docker daemon; `tests/docs/test_packaging.py` replays them",
        "openssl rand": "a server; `tests/app/web/server/test_metrics.py` asks it",
        "export NEO4J_URI=bolt+s": "`tests/app/cli/test_store.py` connects to such a server",
        "cobalance --log-level": "`tests/app/cli/test_log.py` runs them",
        "cobalance store backup move.zip": "two machines; `tests/workflows/backup` has two stores",
    },
    "python": {"pip install": "`tests/docs/test_packaging.py` installs the package"},
    "scale": {
        "cobalance ingest images.parquet --dataset big --max-rows": "ten million images",
        "cobalance ingest images.parquet --dataset big --keep-images": "ten million images",
        "cobalance ingest images/": "`tests/app/cli/test_out_of_core.py` does it",
        "cobalance ingest s3a": "Spark and a bucket",
    },
    "what-helps": {"python -m benchmarks": "an hour"},
}
"""Blocks that nobody enters, by page and by how they begin, each with the reason."""


@pytest.fixture(scope="module")
def environment(
    settings: Settings, store: GraphStore, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """The environment of a user whose home is empty, but for the tests' local server."""
    data = tmp_path_factory.mktemp("data")
    home = data / "cobalance"
    home.mkdir()
    own = settings.model_copy(update={"cobalance_home": home, "neo4j_uri": None})
    if settings.neo4j_uri is None:
        own.local_server().home.symlink_to(settings.local_server().home)
    yield {**os.environ, "XDG_DATA_HOME": str(data), "PYTHONPATH": str(ROOT)}
    if settings.neo4j_uri is not None:
        local_server.stop(own.local_server())


@pytest.fixture(scope="module")
def kernel(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BlockingKernelClient]:
    folder = str(tmp_path_factory.mktemp("notebooks"))
    with run_kernel(kernel_name="python3", cwd=folder, env=environment) as client:
        yield client


@pytest.mark.parametrize(
    "page", [page for page, blocks in PAGES.items() if any(block.runs for block in blocks)]
)
def test_what_runs_shows_what_the_page_says(
    environment: dict[str, str],
    store: GraphStore,
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path, environment)
    before = {*list_datasets(store)["dataset"]}
    begun = False
    try:
        for block in PAGES[page]:
            if block.language == "python" and page not in ELSEWHERE:
                kernel = request.getfixturevalue("kernel")
                if not begun:
                    run_cell(kernel, f"%reset -f\n%cd -q {tmp_path}")
                begun = True
                check_cell(kernel, block)
            elif block.language == "console" and block.runs:
                reader.enter_all(block)
    finally:
        for name in {*list_datasets(store)["dataset"]} - before:
            drop_dataset(store, name)


@pytest.mark.parametrize("page", PAGES)
def test_what_does_not_run_is_named_with_its_reason(page: str) -> None:
    named = NOT_RUN.get(page, {})
    left = [block.text for block in PAGES[page] if block.has_commands and not block.runs]
    unnamed = [text for text in left if not any(map(text.startswith, named))]
    assert unnamed == [], "let it run after a prompt, or name it in NOT_RUN with the reason"
    assert [begin for begin in named if not any(text.startswith(begin) for text in left)] == []


def check_cell(kernel: BlockingKernelClient, block: Block) -> None:
    """Run a cell, and check what it shows."""
    found, expected = lines(run_cell(kernel, block.text)), lines(block.shown)
    if found or expected:
        compare(found, expected or [""], block.text)


def run_cell(kernel: BlockingKernelClient, cell: str) -> str:
    """Run a cell, and return what it prints and its result, as text."""
    shown: list[str] = []

    def take(message: dict[str, Any]) -> None:
        content = message["content"]
        match message["msg_type"]:
            case "stream" if content["name"] == "stdout":
                shown.append(content["text"])
            case "execute_result" | "display_data" if "image/png" not in content["data"]:
                shown.append(content["data"].get("text/plain", ""))  # a bar is HTML alone

    reply = kernel.execute_interactive(cell, output_hook=take, timeout=TIMEOUT_S)["content"]
    assert reply["status"] == "ok", "\n".join([cell, *reply["traceback"]])
    return "".join(shown)


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
