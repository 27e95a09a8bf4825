"""Classes, concepts and splits of a dataset by name, with their sizes."""

from collections.abc import Sequence

from graph.database.store import GraphStore


def class_sizes(store: GraphStore, dataset: str) -> dict[str, int]:
    """Images of each class, by name in ascending order."""
    rows = store.read(
        "MATCH (y:Class {dataset: $dataset}) "
        "RETURN y.name AS name, COUNT { (y)<-[:LABELED]-() } AS images",
        dataset=dataset,
    )
    return {row["name"]: row["images"] for row in sorted(rows, key=lambda row: str(row["name"]))}


def concept_names(store: GraphStore, dataset: str) -> list[str]:
    """The dataset's concepts, in ascending order."""
    rows = store.read(
        "MATCH (c:Concept {dataset: $dataset}) RETURN c.name AS name", dataset=dataset
    )
    return sorted(row["name"] for row in rows)


def split_sizes(store: GraphStore, dataset: str) -> dict[str | None, int]:
    """Images of each split, by name in ascending order; of none (None) last."""
    rows = store.read(
        "MATCH (i:Image {dataset: $dataset}) RETURN i.split AS split, count(*) AS images "
        "ORDER BY split",
        dataset=dataset,
    )
    return {row["split"]: row["images"] for row in rows}


def foreign_images(store: GraphStore, dataset: str, ids: Sequence[str]) -> int:
    """How many images a dataset has if none of them is among `ids`, or else 0.

    Also 0 where there is no such dataset. It takes a look-up in an index for each of `ids`, until
    one is found.
    """
    (row,) = store.read(
        "RETURN EXISTS { UNWIND $ids AS id MATCH (:Image {dataset: $dataset, id: id}) } AS known, "
        "COUNT { MATCH (:Image {dataset: $dataset}) } AS images",
        dataset=dataset,
        ids=list(ids),
    )
    return 0 if row["known"] else int(row["images"])
