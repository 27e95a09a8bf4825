"""Addresses of each class's real images, as sources of objects."""

from dataclasses import dataclass

from graph.database.store import GraphStore
from graph.dataset import statements
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
    """Read the images of each class that have an address and were not generated.

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
        There is no such dataset, or it is not complete.
    """
    dataset_state(store, dataset).require_complete()
    found: dict[str, list[tuple[str, str]]] = {}
    for row in store.stream(
        statements.REAL_FILES,
        dataset=dataset,
        split=split,
    ):
        found.setdefault(row["class_name"], []).append((row["id"], row["uri"]))
    # Sorted here: a choice by place must not depend on how a server compares letters.
    return {name: ClassImages(*zip(*sorted(found[name]), strict=True)) for name in sorted(found)}
