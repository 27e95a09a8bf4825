"""Pages of images, from the packed lists where the dataset has them."""

from collections.abc import Sequence

import pandas as pd

from cobalance.graph.database import GraphStore
from cobalance.graph.dataset import dataset_state, find_images, statements
from cobalance.graph.queries import statements as queries
from cobalance.graph.queries.binding import read_saved
from cobalance.graph.queries.catalogue import CATALOGUE


def read_clique_images(
    store: GraphStore,
    dataset: str,
    concepts: Sequence[str],
    class_name: str,
    *,
    compared: str | None = None,
    skip: int = 0,
    limit: int = 50,
) -> pd.DataFrame:
    """Answer the query ``images-of-clique``, a hundred times as fast for large counts.

    The names come from the graph, in the state that the caller has read: they are not checked. If
    the dataset is `compared` by a concept, `class_name` says whether the images show that.
    """
    within = without = None
    if compared is None:
        within = class_name
    elif compared == class_name:
        concepts = [*concepts, class_name]
    else:
        without = compared

    page = find_images(store, dataset, concepts, within, without=without, skip=skip, limit=limit)
    if page is not None:
        return store.read_frame(statements.IMAGES_BY_ID, dataset=dataset, ids=page[0])

    query = CATALOGUE["images-of-clique"]
    parameters = query.bind(
        {
            "dataset": dataset,
            "concepts": list(concepts),
            "class": within,
            "without": without,
            "limit": limit,
            "skip": skip,
        }
    )
    return store.read_frame(query, **parameters)


def read_image_page(
    store: GraphStore,
    dataset: str,
    concepts: Sequence[str] = (),
    class_name: str | None = None,
    *,
    skip: int = 0,
    limit: int = 50,
) -> tuple[pd.DataFrame, int]:
    """Read a page of the images that show all the concepts, of a class or of any, by id.

    The names come from the graph, in the state that the caller has read: they are not checked.

    Returns
    -------
    pandas.DataFrame
        ``id``, ``uri`` (None where missing), ``class`` and ``concepts`` (list of str, ascending).
    int
        How many images there are on all pages; of a sampled dataset, of those that it keeps.
    """
    page = find_images(store, dataset, concepts, class_name, skip=skip, limit=limit)
    if page is None:
        filters = {"dataset": dataset, "concepts": list(concepts), "class": class_name}
        rows = store.read(queries.IMAGES_SHOWING, **filters, skip=skip, limit=limit)
        (counted,) = store.read(queries.COUNT_SHOWING, **filters)
        page = [row["id"] for row in rows], counted["images"]

    ids, total = page
    return store.read_frame(queries.IMAGE_CONTENTS, dataset=dataset, ids=ids), total


def count_in_images(
    store: GraphStore, dataset: str, concepts: Sequence[str], split: str | None = None
) -> pd.DataFrame:
    """Count the images of each compared class with all the concepts: ``imbalance-of-concepts``.

    Raises
    ------
    UnknownNameError
        The dataset has no such concept.
    """
    name = "imbalance-of-concepts"
    parameters = {"dataset": dataset, "concepts": list(concepts), "split": split}
    compared = dataset_state(store, dataset).compared
    if compared:
        name = "concepts-against-rest"
        parameters["compared"] = compared[0]
    return read_saved(store, name, **parameters)


def list_image_concepts(store: GraphStore, dataset: str, image: str) -> list[str]:
    """Return the concepts of one image, sorted; none for an image that is not there."""
    rows = store.read(queries.IMAGE_CONCEPTS, dataset=dataset, image=image)
    return [row["concept"] for row in rows]
