"""Draw which labels people check, and who checks which."""

import numpy as np
import pandas as pd

from cobalance.base import BoolArray, IntArray, assign


def draw_labels(
    class_codes: IntArray, labelled: BoolArray, n: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw images of each concept, class and verdict, without replacement.

    Parameters
    ----------
    class_codes : int array, shape (images,)
        The class of each image.
    labelled : bool array, shape (images, concepts)
        Whether the annotator says that an image shows a concept.
    n : int
        How many images of each concept, class and verdict; all of them where there are fewer.

    Returns
    -------
    pandas.DataFrame
        ``image`` and ``concept`` (positions) and ``labelled``, by concept, class and verdict.
    """
    drawn = []
    for concept in range(labelled.shape[1]):
        for code in np.unique(class_codes):
            for verdict in (True, False):
                stratum = (class_codes == code) & (labelled[:, concept] == verdict)
                images = rng.permutation(np.flatnonzero(stratum).astype(np.int64))[:n]
                drawn += [(image, concept, verdict) for image in images.tolist()]

    kinds = {"image": np.int64, "concept": np.int64, "labelled": bool}
    return pd.DataFrame(drawn, columns=list(kinds)).astype(kinds)


def assign_people(
    concepts: IntArray, people: int, overlap: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw who checks which labels, in an order that does not tell class or verdict.

    Everybody has the labels of one concept after those of another, each concept's in random order.

    Parameters
    ----------
    concepts : int array, shape (labels,)
        The concept of each label.
    people, overlap : int
        How many people there are, and how many of them check each label.

    Returns
    -------
    pandas.DataFrame
        In the order in which each person checks: ``person`` and ``label``, both from 0.

    Raises
    ------
    OptionError
        The overlap is not between 1 and the number of people.
    """
    drawn = assign(len(concepts), people, overlap, rng).rename(columns={"pair": "label"})
    order = np.lexsort((concepts[drawn["label"].to_numpy()], drawn["person"].to_numpy()))
    return drawn[["person", "label"]].iloc[order].reset_index(drop=True)
