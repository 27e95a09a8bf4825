"""Markedness in embeddings: how alike a group's images are, and whether they are just people."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import DataError, FloatArray, OptionError, Options, check_known
from cobalance.evaluation.groups import align_groups
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin, stack
from cobalance.evaluation.metrics.tables import Score, by_run, score_rows, text_column, under
from cobalance.evaluation.shortcuts import NONE
from cobalance.statistics import proportions

Against = Literal["own", "all"]
PERSON = "person"
"""The column of the neutral prompt."""


def self_similarity(
    embeddings: npt.ArrayLike, groups: Sequence[Any] | None = None, *, sampled: bool = False
) -> pd.DataFrame:
    """Return the mean cosine of all pairs of different images of each group.

    (‖Σu‖² - n) / (n (n - 1)) for the unit vectors u, in one pass (Pinpoint Counterfactuals, section
    4.3). A higher value for a group means that its images differ less to the model.

    Parameters
    ----------
    embeddings : array, shape (n_images, n_dimensions)
        Of any length; they are normalised.
    groups : sequence, length n_images, optional
        The group of each image, None for none; without it all images are one.
    sampled : bool
        The expectation of the published code [1]_ instead, which draws images with replacement and
        so pairs images with themselves: ‖Σu‖² / n², which is higher, most for small groups.

    Returns
    -------
    frame of scores
        ``self_similarity`` of each group, and `n` images. NaN for a group of one image.

    Raises
    ------
    OptionError
        An embedding is zero or not finite, or there are more or fewer of them than groups.

    References
    ----------
    .. [1] Wolfe, R. and Caliskan, A., *Markedness in visual semantic AI* (FAccT 2022).

    Examples
    --------
    >>> float(self_similarity([(1, 0), (0, 1), (1, 0)])["value"].round(4).item())
    0.3333
    """
    units = unit_rows(embeddings, "embeddings")
    scores = []
    for name, rows in _by_group(groups, len(units)):
        # The square of a sum of unit vectors is the sum of all cosines, those with itself included.
        n, total = len(rows), float(np.square(units[rows].sum(axis=0)).sum())
        value = np.nan
        if sampled and n:
            value = total / n**2
        elif n > 1:
            value = (total - n) / (n * (n - 1))
        scores.append(Score("self_similarity", name, value, n=n))
    return score_rows(scores)


def person_preference(
    similarities: pd.DataFrame, groups: Sequence[Any], *, against: Against = "own"
) -> pd.DataFrame:
    """Return the share of each group's images that are closer to "a person" than to a group.

    Parameters
    ----------
    similarities : frame, shape (n_images, 1 + n_groups)
        Cosine of each image with the prompts: "a photo of a person" in the column ``person``, and
        "a photo of a ..." in a column for each group. From embeddings by `prompt_similarities`.
    groups : sequence, length n_images
        The group of each image, None for none.
    against : {"own", "all"}
        What "a person" is compared with: the prompt of the image's own group, as Pinpoint
        Counterfactuals (section 4.3) describe it, where it has to be closer; or the prompts of all
        groups, as in the published code [1]_, where it also wins ties. The second is never higher,
        ties aside.

    Returns
    -------
    frame of scores
        ``person_preference`` of each group that has a prompt, with Wilson's interval.

    Raises
    ------
    OptionError
        A column is missing, or a similarity is NaN.

    References
    ----------
    .. [1] Wolfe, R. and Caliskan, A., *Markedness in visual semantic AI* (FAccT 2022).

    Examples
    --------
    >>> cosines = pd.DataFrame({"person": [0.3, 0.3], "man": [0.2, 0.4], "woman": [0.4, 0.1]})
    >>> person_preference(cosines, ["man", "man"])[["group", "value", "n"]]
       group  value    n
    0    man    0.5  2.0
    1  woman    NaN  0.0
    """
    check_known("against", [against], get_args(Against))
    if PERSON not in similarities:
        raise OptionError(
            f"similarities have no column {PERSON!r}, and have "
            f"{', '.join(map(str, similarities))}. Call the neutral prompt's column so."
        )
    values = similarities.to_numpy(dtype=np.float64)
    if np.isnan(values).any():
        row, column = np.argwhere(np.isnan(values))[0]
        raise DataError(
            f"similarities, row {row + 1}, column {similarities.columns[column]} is NaN."
        )

    prompts = [name for name in similarities if name != PERSON]
    by_group = dict(_by_group(groups, len(similarities)))
    unknown = sorted(by_group.keys() - set(map(str, prompts)))
    if unknown:
        raise DataError(
            f"similarities have no column for the group {unknown[0]!r}, and have "
            f"{', '.join(map(str, prompts))}. Add one for each group."
        )

    neutral = similarities[PERSON].to_numpy(dtype=np.float64)
    best = similarities[prompts].to_numpy(dtype=np.float64).max(axis=1)
    scores = []
    for prompt in prompts:
        rows = by_group.get(str(prompt), np.array([], dtype=np.int64))
        if against == "own":
            is_neutral = neutral > similarities[prompt].to_numpy(dtype=np.float64)
        else:
            is_neutral = neutral >= best
        share, low, high = map(float, proportions(int(is_neutral[rows].sum()), len(rows)))
        scores.append(Score("person_preference", str(prompt), share, low, high, len(rows)))
    return score_rows(scores)


def prompt_similarities(
    images: npt.ArrayLike, prompts: Mapping[str, npt.ArrayLike]
) -> pd.DataFrame:
    """Return the cosine of each image's embedding with each prompt's.

    Parameters
    ----------
    images : array, shape (n_images, n_dimensions)
    prompts : mapping of name to array, shape (n_dimensions,)

    Examples
    --------
    >>> prompt_similarities([(0, 2)], {"person": (0, 1), "man": (1, 0)})
       person  man
    0     1.0  0.0
    """
    vectors = np.stack(list(map(np.asarray, prompts.values())))
    image_units, prompt_units = unit_pair(images=images, prompts=vectors)
    return pd.DataFrame(image_units @ prompt_units.T, columns=list(prompts))


def unit_pair(**vectors: npt.ArrayLike) -> list[FloatArray]:
    """Two sets of vectors, by the names that messages call them, divided by their lengths.

    Raises
    ------
    DataError
        They differ in their dimensions, or one of them is zero or not finite.
    """
    first, second = (unit_rows(values, name) for name, values in vectors.items())
    if first.shape[1] != second.shape[1]:
        name, other = vectors
        raise DataError(
            f"{name} have {first.shape[1]} dimensions and {other} {second.shape[1]}. Embed both "
            "with one model."
        )
    return [first, second]


def unit_rows(vectors: npt.ArrayLike, name: str) -> FloatArray:
    """Return vectors divided by their lengths, shape (n, n_dimensions).

    Raises
    ------
    DataError
        One is zero or not finite.
    """
    values = np.asarray(vectors, dtype=np.float64)
    if values.ndim != 2:
        raise DataError(f"{name} have the shape {values.shape}; give a row for each.")

    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    is_wrong = ~np.isfinite(lengths[:, 0]) | (lengths[:, 0] == 0)
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        raise DataError(f"{name}[{row}] is zero or not finite. Leave such rows out.")

    return np.asarray(values / lengths, dtype=np.float64)


def _by_group(groups: Sequence[Any] | None, n: int) -> list[tuple[str, npt.NDArray[np.int64]]]:
    if groups is None:
        return [("", np.arange(n))]
    names = pd.Series(list(groups), dtype=object)
    if len(names) != n:
        raise DataError(f"{len(names)} groups are given for {n} images. Give one for each.")
    names = names.map(str, na_action="ignore")
    return [(name, np.flatnonzero(names == name)) for name in sorted(names.dropna().unique())]


class SimilarityOptions(Options):
    """Options of the metric self_similarity.

    Parameters
    ----------
    sampled : bool
        Whether images are paired with themselves, too, as in the published code.
    """

    sampled: bool = False


class PreferenceOptions(Options):
    """Options of the metric person_preference.

    Parameters
    ----------
    against : {"own", "all"}
        The prompts that "a person" is compared with: of the image's group, or of all groups.
    """

    against: Against = "own"


def _self_similarity(inputs: Inputs, options: SimilarityOptions) -> pd.DataFrame:
    vectors = inputs.vectors("embeddings")
    if inputs.get("groups") is None:
        return self_similarity(vectors, sampled=options.sampled)

    return stack(
        under(name, self_similarity(vectors, groups, sampled=options.sampled))
        for name, groups in groups_of_embeddings(inputs).items()
    )


def groups_of_embeddings(inputs: Inputs) -> dict[str, list[str | None]]:
    """The group of each image of the embeddings, None for none, by attribute."""
    groups = align_groups(inputs.need("groups"), inputs.ids_of("embeddings"), "embeddings")
    groups = groups.astype(object).where(groups != NONE, None)
    return {str(name): column.tolist() for name, column in groups.items()}


def _person_preference(inputs: Inputs, options: PreferenceOptions) -> pd.DataFrame:
    def preference(rows: pd.DataFrame) -> pd.DataFrame:
        groups = text_column(rows, "group")
        columns = [name for name in rows if name not in ("image", "group", "n")]
        similarities = rows[columns].apply(pd.to_numeric, errors="coerce").reset_index(drop=True)
        return person_preference(similarities, groups, against=options.against)

    return by_run(inputs.need("table"), preference)


PLUGINS = (
    MetricPlugin(
        "self_similarity",
        "Mean cosine of the images of each group: how alike they are to a model.",
        options=SimilarityOptions,
        takes=("embeddings",),
        may_take=("groups",),
        compute=_self_similarity,
    ),
    MetricPlugin(
        "person_preference",
        'Share of each group closer to "a person" than to the group. A table has group, and the '
        "cosines: person, and a column for each group.",
        options=PreferenceOptions,
        takes=("table",),
        compute=_person_preference,
    ),
)
