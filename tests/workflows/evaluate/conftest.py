"""A dataset of small pictures whose background goes with the class, and its rebalanced copy."""

import io

import numpy as np
import pytest
from PIL import Image

from cobalance.base.records import Annotations, ImageRecord, Mention, PlannedQuery
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.lifecycle import create_job

SHADES = {"cat": 150, "dog": 100}
GROUNDS = {"grass": (20, 200, 20), "snow": (240, 240, 255)}


def picture(class_name, ground, seed):
    """A square of the class's shade, hard to tell on its ground."""
    rng = np.random.default_rng(seed)
    pixels = np.empty((16, 16, 3))
    pixels[:] = GROUNDS[ground]
    at = rng.integers(4, 8)
    pixels[at : at + 4, at : at + 4] = SHADES[class_name]
    return np.clip(pixels + rng.normal(0, 25, pixels.shape), 0, 255).astype(np.uint8)


def draw(folder, split, counts, start=0, synthetic=False):
    """Images by class and ground, so many of each, as records."""
    records = []
    for (class_name, ground), n in counts.items():
        for i in range(start, start + n):
            name = f"{split}-{class_name}-{ground}-{i}"
            buffer = io.BytesIO()
            seed = [ord(split[0]), ord(class_name[0]), ord(ground[0]), i]
            Image.fromarray(picture(class_name, ground, seed)).save(buffer, "png")
            (folder / f"{name}.png").write_bytes(buffer.getvalue())
            records.append(
                ImageRecord(
                    name,
                    class_name,
                    (Mention(ground),),
                    split,
                    f"{name}.png",
                    synthetic=synthetic,
                )
            )
    return records


BIASED = {("cat", "grass"): 30, ("cat", "snow"): 2, ("dog", "snow"): 30, ("dog", "grass"): 2}
EVEN = dict.fromkeys(BIASED, 10)


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    return folder


@pytest.fixture
def own(settings, tmp_path, pictures):
    """Settings with folders of this test's own."""
    return settings.model_copy(
        update={
            "cobalance_output": str(tmp_path / "generated"),
            "cobalance_images": (str(pictures),),
            "cobalance_queue": None,
        }
    )


@pytest.fixture
def animals(store, dataset, pictures):
    """Cats on grass and dogs on snow; tested on both alike."""
    records = [*draw(pictures, "train", BIASED), *draw(pictures, "test", EVEN)]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(max_size=2, split="train"), max_cliques=100)
    return dataset


@pytest.fixture
def rebalanced(store, animals, pictures):
    """The same with the missing ones, as if a job had made them."""
    job = create_job(
        store,
        animals,
        "conbias",
        [PlannedQuery("cat", ("snow",), 28)],
        settings={"recipe": "paste", "backend": "paste"},
    )
    missing = {("cat", "snow"): 28, ("dog", "grass"): 28}
    records = [
        *draw(pictures, "train", BIASED),
        *draw(pictures, "test", EVEN),
        *draw(pictures, "train", missing, start=100, synthetic=True),
    ]
    name = f"{animals}-rebalanced"
    write_annotations(store, name, Annotations.from_records(records), source="a test")
    store.write("MATCH (d:Dataset {name: $name}) SET d.rebalanced_by = $job", name=name, job=job)
    yield name
    if find_dataset(store, name) is not None:
        drop_dataset(store, name)
