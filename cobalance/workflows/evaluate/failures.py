"""Where a model fails, by clique: its accuracy on the test images that show each."""

import math
from collections.abc import Collection, Iterable, Sequence

import numpy as np
import pandas as pd

from cobalance.base import BoolArray, DataError
from cobalance.graph import GraphStore, read_evaluation, read_image_concepts
from cobalance.statistics import proportions
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.evaluate.stored import read_saved_predictions

COLUMNS = ("accuracy", "accuracy_low", "accuracy_high", "test_images")


def accuracy_by_clique(
    store: GraphStore,
    folder: OutputFolder,
    evaluation: str,
    cliques: Sequence[Collection[str]],
) -> pd.DataFrame:
    """An evaluation's accuracy on the test images of each clique, in the cliques' order.

    Parameters
    ----------
    cliques : sequence of collection of str
        Concepts that an image shows all of; every image shows none.

    Returns
    -------
    pandas.DataFrame
        ``accuracy``, ``accuracy_low``, ``accuracy_high`` (Wilson, 95%; NaN without test images),
        ``test_images``.

    Raises
    ------
    NotFoundError, NoPredictionsError
        There is no such evaluation, or it has no predictions here.
    DataError
        Its images have several labels each.
    """
    run = read_evaluation(store, evaluation)
    predictions = read_saved_predictions(folder, run)
    if "predicted" not in predictions:
        raise DataError(
            f"The evaluation {evaluation} predicts several labels an image, of which none is right "
            "or wrong as a whole. Choose one that predicts classes."
        )

    right = (predictions["class_name"] == predictions["predicted"]).to_numpy()
    # Images that the dataset has lost since show no concept.
    images = read_image_concepts(store, run.test)
    concepts = dict(zip(images["id"], images["concepts"], strict=True))
    concepts_of = [concepts.get(image, ()) for image in predictions["image"]]
    return accuracy_of_cliques(right, concepts_of, cliques)


def accuracy_of_cliques(
    right: BoolArray, concepts_of: Sequence[Iterable[str]], cliques: Sequence[Collection[str]]
) -> pd.DataFrame:
    """Accuracy on the images that show all concepts of each clique, see `accuracy_by_clique`.

    Parameters
    ----------
    right : bool array, shape (n_images,)
        Whether each image is predicted right.
    concepts_of : sequence of iterable of str
        What each shows.

    Examples
    --------
    >>> shown = [("cow", "field"), ("cow",), ("field",)]
    >>> accuracy_of_cliques(np.array([True, False, True]), shown, [("cow",), ("road",)])[
    ...     ["accuracy", "test_images"]]
       accuracy  test_images
    0       0.5            2
    1       NaN            0
    """
    shows = {name: np.zeros(len(right), dtype=bool) for clique in cliques for name in clique}
    for row, names in enumerate(concepts_of):
        for name in shows.keys() & names:
            shows[name][row] = True

    n = np.zeros(len(cliques))
    hits = np.zeros(len(cliques))
    for row, clique in enumerate(cliques):
        images = np.ones(len(right), dtype=bool)
        for name in clique:
            images &= shows[name]
        n[row], hits[row] = images.sum(), (images & right).sum()

    columns = (*proportions(hits, n), n.astype(np.int64))
    return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))


def accuracy_texts(frame: pd.DataFrame) -> list[str]:
    """Accuracy with its interval in percent; a dash without test images.

    Examples
    --------
    >>> accuracy_texts(accuracy_of_cliques(np.array([True]), [("cow",)], [("cow",), ("road",)]))
    ['100.0 [20.7, 100.0]', '-']
    """
    texts = []
    percent = 100 * frame[list(COLUMNS[:3])]
    for value, low, high in percent.itertuples(index=False):
        texts.append("-" if math.isnan(value) else f"{value:.1f} [{low:.1f}, {high:.1f}]")
    return texts
