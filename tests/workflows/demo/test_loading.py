"""The example with pictures is loaded whole: images, masks, counts."""

from pathlib import Path

from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.cliques import read_mining_options
from cobalance.graph.queries.clique_images import read_clique_images
from cobalance.vision.images.regions import read_regions
from cobalance.workflows.demo import draw_digits
from cobalance.workflows.demo.runner import Runner, load_digits
from cobalance.workflows.images import image_reader
from cobalance.workflows.settings import Settings


def test_the_digits_have_their_pictures(
    store: GraphStore, dataset: str, tmp_path: Path, monkeypatch, train: draw_digits.Digits
) -> None:
    monkeypatch.setenv("COBALANCE_OUTPUT", str(tmp_path / "made"))
    monkeypatch.setenv("COBALANCE_HOME", str(tmp_path / "home"))
    settings = Settings.from_environment()
    load_digits(Runner(store, settings), dataset, train)
    assert read_mining_options(store, dataset).max_size == 2
    found = read_clique_images(store, dataset, ("coin",), "eight", skip=0, limit=3)
    assert len(found) == 3
    read = image_reader(settings.folders(), dataset)
    assert all(read(uri, False).startswith(b"\x89PNG") for uri in found["uri"])
    regions = read_regions(settings.folders().regions, dataset, found["id"].tolist())
    assert {"coin", "eight"} <= set(regions["concept"])
