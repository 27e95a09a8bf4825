"""The real images of each class: what objects for generated images are taken from."""

from dataclasses import dataclass

from graph.database.store import GraphStore
from graph.dataset.names import class_sizes
from graph.dataset.state import dataset_state


@dataclass(frozen=True, eq=False)
class ClassImages:
    """Images of a class.

    Parameters
    ----------
    ids : tuple of str
        Of the images, ascending.
    uris : tuple of str
        Where each is, as the annotations have it.
    """

    ids: tuple[str, ...]
    uris: tuple[str, ...]


def read_class_images(
    store: GraphStore, dataset: str, *, split: str | None = None
) -> dict[str, ClassImages]:
    """The images of each class that have an address and were not generated.

    One read a class, which the caller keeps.

    Parameters
    ----------
    split : str or None
        Only those of this split.

    Returns
    -------
    dict of str to ClassImages
        Those classes that have such images, by name in ascending order.

    Raises
    ------
    DatasetNotFoundError, StaleError
        There is no such dataset, or it is not whole.
    """
    dataset_state(store, dataset).require_complete()
    found = {}
    for class_name in class_sizes(store, dataset):
        rows = store.stream(
            "MATCH (:Class {dataset: $dataset, name: $class_name})<-[:LABELED]-(i:Image) "
            "WHERE NOT i.synthetic AND i.uri IS NOT NULL "
            "AND ($split IS NULL OR i.split = $split) RETURN i.id AS id, i.uri AS uri",
            dataset=dataset,
            class_name=class_name,
            split=split,
        )
        # Sorted here: a choice by place must not depend on how a server compares letters.
        pairs = sorted((row["id"], row["uri"]) for row in rows)
        if pairs:
            ids, uris = zip(*pairs, strict=True)
            found[class_name] = ClassImages(ids, uris)
    return found
