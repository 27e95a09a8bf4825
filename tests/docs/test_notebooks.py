"""Pages whose Python cells run one after another in a Jupyter kernel, as a reader runs them."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import run_kernel

from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.state import find_dataset
from cobalance.workflows.settings import Settings

DOCS = Path(__file__).parents[2] / "docs"
CELL = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
DATASETS = ("tour", "tour-rebalanced")
TIMEOUT_S = 300  # of a cell


@pytest.fixture(scope="module")
def kernel(
    settings: Settings, store: GraphStore, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BlockingKernelClient]:
    """A kernel of a user whose home is empty, but for the tests' local server."""
    data = tmp_path_factory.mktemp("data")
    home = data / "cobalance"
    home.mkdir()
    own = settings.model_copy(update={"cobalance_home": home, "neo4j_uri": None})
    if settings.neo4j_uri is None:
        own.local_server().home.symlink_to(settings.local_server().home)
    environment = {**os.environ, "XDG_DATA_HOME": str(data)}
    folder = str(tmp_path_factory.mktemp("notebooks"))
    try:
        with run_kernel(kernel_name="python3", cwd=folder, env=environment) as client:
            yield client
    finally:
        if settings.neo4j_uri is not None:
            local_server.stop(own.local_server())
        for name in DATASETS:
            if find_dataset(store, name) is not None:
                drop_dataset(store, name)


@pytest.mark.parametrize("page", ["evaluation.md", "python.md"])
def test_every_cell_shows_what_the_page_says(kernel: BlockingKernelClient, page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    cells = CELL.findall(text)
    assert len(cells) == text.count("```python")
    run(kernel, "%reset -f")
    for cell, expected in cells:
        assert lines(run(kernel, cell)) == lines(expected), cell


def run(kernel: BlockingKernelClient, cell: str) -> str:
    """Run a cell, and return what it prints and its result, as text."""
    shown: list[str] = []

    def take(message: dict[str, Any]) -> None:
        content = message["content"]
        match message["msg_type"]:
            case "stream" if content["name"] == "stdout":
                shown.append(content["text"])
            case "execute_result" | "display_data":
                shown.append(content["data"]["text/plain"])

    reply = kernel.execute_interactive(cell, output_hook=take, timeout=TIMEOUT_S)["content"]
    assert reply["status"] == "ok", "\n".join([cell, *reply["traceback"]])
    return "".join(shown)


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
