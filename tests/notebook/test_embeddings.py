"""Vectors of images from Python, of an array and of a file."""

import asyncio
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import cobalance as cb
from cobalance.base.errors import DataError, InputError, OptionError, UnknownNameError
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.read import load_incidence
from cobalance.workflows.settings import Settings

VECTORS = np.array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0], [1.0, 1.0]])


@pytest.fixture
def held(store: GraphStore, settings: Settings, dataset: str) -> cb.Dataset:
    images = pd.DataFrame({"id": list("abcd"), "label": ["cat", "dog"] * 2, "objects": "sofa"})
    return cb.Store(store, settings).load(cb.read(images), dataset)


def test_an_array_and_a_file_are_alike(held: cb.Dataset, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no embeddings.*compute_embeddings\("):
        held.similar("a")
    assert held.add_embeddings(VECTORS, ["a", "b", "c", "no image"]) == 3
    with pytest.raises(UnknownNameError):
        held.similar("d")
    np.savez(tmp_path / "vectors.npz", id=list("abcd"), vectors=VECTORS)
    assert held.add_embeddings(tmp_path / "vectors.npz") == 4
    assert held.similar("a", n=2).to_dict("list") == {
        "id": ["b", "d"],
        "class": ["dog", "dog"],
        "similarity": pytest.approx([1.0, 0.5**0.5]),
    }
    assert held.near_duplicates()[["id", "classes"]].to_numpy().tolist() == [
        ["a", "cat + dog"],
        ["b", "cat + dog"],
    ]


@pytest.mark.parametrize(
    ("vectors", "ids", "said"),
    [
        (VECTORS, ["a"], "there are 1 ids"),
        (VECTORS, None, "there are 0 ids"),
        ([[1.0], [np.nan]], ["a", "b"], "row 1: a value is not a finite number"),
        ([[1.0], [2.0]], ["a", "a"], "image 'a' is there twice"),
        ([["x"]], ["a"], "a row of numbers"),
    ],
)
def test_arrays_that_cannot_be_used(
    held: cb.Dataset, vectors: object, ids: list[str] | None, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        held.add_embeddings(vectors, ids)


def test_vectors_of_pixels_are_computed(
    store: GraphStore, settings: Settings, dataset: str, tmp_path: Path
) -> None:
    for name, shade in (("a", 10), ("b", 10), ("c", 200)):
        pixels = np.full((8, 8, 3), shade, dtype=np.uint8)
        pixels[:4] = 255 - shade
        Image.fromarray(pixels).save(tmp_path / f"{name}.png")
    own = settings.model_copy(
        update={"cobalance_images": (str(tmp_path),), "cobalance_output": str(tmp_path / "made")}
    )
    images = pd.DataFrame(
        {"id": list("abc"), "label": ["cat", "dog", "cat"], "objects": "sofa"}
    ).assign(path=lambda rows: rows["id"] + ".png")
    held = cb.Store(store, own).load(cb.read(images), dataset)

    async def compute() -> int:
        return held.compute_embeddings("pixels", side_px=4)

    assert asyncio.run(compute()) == 3
    assert held.near_duplicates(0.99)["id"].tolist() == ["a", "b"]
    with pytest.raises(OptionError, match="no option"):
        held.compute_embeddings("pixels", side=4)
    found = held.properties(measure=True, concepts=["contrast"])
    assert found.columns[:2].tolist() == ["property", "class"]
    concepts = load_incidence(store, dataset).concepts
    assert list(concepts) == ["image: contrast 100 and above", "image: contrast below 100", "sofa"]


def test_vectors_of_other_images_change_nothing(held: cb.Dataset) -> None:
    held.add_embeddings(VECTORS[:2], ["a", "b"])
    with pytest.raises(OptionError, match="none of its 1 ids is an image"):
        held.add_embeddings(VECTORS[:1], ["elsewhere"])
    assert held.similar("a")["id"].tolist() == ["b"]


def test_near_duplicates_as_clusters_count_as_a_column_of_clusters(
    held: cb.Dataset, store: GraphStore, settings: Settings, dataset: str
) -> None:
    held.add_embeddings(VECTORS, list("abcd"))
    held.near_duplicates(as_clusters=True)
    named = held.graph.read(
        "MATCH (i:Image {dataset: $dataset}) RETURN i.id AS id, i.cluster AS cluster ORDER BY id",
        dataset=dataset,
    )
    assert [row["cluster"] for row in named] == ["near duplicates 1"] * 2 + [None] * 2
    found = held.mine().imbalances()
    images = pd.DataFrame({"id": list("abcd"), "label": ["cat", "dog"] * 2, "objects": "sofa"})
    images["group"] = ["one", "one", None, None]
    told = cb.read(images, cluster_column="group")
    column = cb.Store(store, settings).load(told, dataset, if_exists="replace")
    expected = column.mine().imbalances()
    assert found["clusters"].tolist() == [3]
    pd.testing.assert_frame_equal(pd.DataFrame(found), pd.DataFrame(expected))
