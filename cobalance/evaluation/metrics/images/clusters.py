"""Clusters of captions whose scenes show one group more often than others."""

import warnings
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import Field

from cobalance.base import STRING, DataError, OptionError, Options, clean_name, needs_extra, sklearn
from cobalance.evaluation.metrics.bias.lic import group_words
from cobalance.evaluation.metrics.metric import (
    Inputs,
    MetricPlugin,
    score_frame,
    with_left_out,
)
from cobalance.evaluation.shortcuts import NONE
from cobalance.statistics import newcombe

SOURCE = "cluster"
"""The source of mentions that clusters give, where they become concepts."""

_WORDS = 10  # of a cluster
_NAMED_BY = 3  # of them in its name
_LONGEST = 40  # characters of each


@needs_extra("Clusters of captions", "evaluate")
def cluster_captions(
    captions: pd.DataFrame, embeddings: npt.ArrayLike, rng: np.random.Generator, *, k: int = 20
) -> pd.DataFrame:
    """The cluster of each captioned image, by K-means on the mean embedding of its captions.

    GenSynth (appendix B.2) clusters captions of COCO into 20; where an image has several captions,
    their mean puts it into one cluster.

    Parameters
    ----------
    captions : pandas.DataFrame
        ``image`` and ``caption``, any number of rows an image.
    embeddings : array, shape (n_captions, n_features)
        Of the captions, by any sentence or text encoder.
    rng : numpy.random.Generator
        Draws the first centres, ten times.
    k : int
        How many clusters.

    Returns
    -------
    pandas.DataFrame
        ``image`` and ``cluster``, from 0 by descending size.

    Raises
    ------
    OptionError
        An embedding is not finite, there are not as many as captions, or fewer images, or images
        with different captions, than clusters.
    MissingExtraError
        scikit-learn is not installed.
    """
    points = np.asarray(embeddings, dtype=np.float64)
    if points.ndim != 2 or len(points) != len(captions):
        raise DataError(
            f"{len(captions):,} captions have embeddings of the shape {points.shape}. Give a row "
            "for each caption."
        )
    if not np.isfinite(points).all():
        row = int(np.flatnonzero(~np.isfinite(points).all(axis=1))[0])
        raise DataError(f"The embedding of caption {row} is not finite. Leave it out.")
    codes, images = pd.factorize(captions["image"].astype(STRING))
    if len(images) < k:
        raise OptionError(f"{len(images):,} images cannot be in {k} clusters. Ask for fewer.")

    means = np.zeros((len(images), points.shape[1]))
    np.add.at(means, codes, points)
    means /= np.bincount(codes)[:, np.newaxis]

    seed = int(rng.integers(2**31))
    with warnings.catch_warnings():
        # K-means warns of fewer different points than clusters.
        unclear = sklearn.exceptions.ConvergenceWarning
        warnings.simplefilter("error", unclear)
        try:
            clusters = sklearn.cluster.KMeans(k, n_init=10, random_state=seed).fit_predict(means)
        except unclear as warning:
            raise OptionError(
                f"{len(images):,} images have fewer than {k} different embeddings. Ask for fewer "
                "clusters."
            ) from warning

    # Clusters are numbered by size, the largest first, as K-means' own numbers mean nothing.
    sizes = np.bincount(clusters, minlength=k)
    numbers = np.empty(k, np.int64)
    numbers[np.lexsort((np.arange(k), -sizes))] = np.arange(k)
    return pd.DataFrame({"image": images, "cluster": numbers[clusters]})


@needs_extra("Words of clusters", "evaluate")
def salient_words(
    captions: pd.DataFrame, clusters: pd.DataFrame, leave_out: Collection[str] = ()
) -> dict[int, list[str]]:
    """The most salient words of each cluster's captions, by an LDA with one topic.

    In such a topic a word's probability is its share of all words, so they are the most frequent
    ones, ties by alphabet; stop words of English and `leave_out`, such as words for groups, are not
    counted.

    Parameters
    ----------
    captions : pandas.DataFrame
        ``image`` and ``caption``.
    clusters : pandas.DataFrame
        From `cluster_captions`.

    Examples
    --------
    >>> captions = pd.DataFrame({"image": ["1", "2"], "caption": ["A man skis", "A skier skis"]})
    >>> salient_words(captions, pd.DataFrame({"image": ["1", "2"], "cluster": 0}),
    ...               leave_out={"man"})
    {0: ['skis', 'skier']}
    """
    texts = sklearn.feature_extraction.text
    split = texts.CountVectorizer().build_analyzer()
    dropped = texts.ENGLISH_STOP_WORDS.union(map(str.lower, leave_out))
    cluster_of = dict(zip(clusters["image"], clusters["cluster"].tolist(), strict=True))

    numbers = sorted(set(cluster_of.values()))
    counts: dict[int, Counter[str]] = {number: Counter() for number in numbers}
    for image, caption in zip(captions["image"].astype(STRING), captions["caption"], strict=True):
        # In NFC, as accents on their own would end words.
        words = split(clean_name(caption))
        counts[cluster_of[image]].update(word for word in words if word not in dropped)

    return {number: _most_used(n_uses) for number, n_uses in counts.items()}


def _most_used(n_uses: Counter[str]) -> list[str]:
    return sorted(n_uses, key=lambda word: (-n_uses[word], word))[:_WORDS]


def caption_clusters(
    clusters: pd.DataFrame,
    groups: Mapping[str, Any],
    *,
    names: Mapping[int, str] | None = None,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """How far each group's share in a cluster is from its share overall, in percentage points.

    GenSynth's ΔM (appendix B.2, table 3) of each group. The interval is Newcombe's of the
    difference between the cluster and the rest, times the rest's part of all images: the cluster
    is a part of the whole that it is compared with.

    Parameters
    ----------
    clusters : pandas.DataFrame
        From `cluster_captions`; images without a group are left out.
    groups : mapping of str to str
        The group of each image.
    names : mapping of int to str, optional
        Of clusters; their numbers by default.

    Returns
    -------
    pandas.DataFrame
        Scores ``cluster_shift``, one for each cluster and group, ``"cluster: group"``; n is the
        images of the cluster.

    Examples
    --------
    >>> clusters = pd.DataFrame({"image": range(80), "cluster": [0] * 40 + [1] * 40})
    >>> groups = {str(i): "man" if i < 30 or i >= 70 else "woman" for i in range(80)}
    >>> caption_clusters(clusters, groups)["value"].tolist()
    [25.0, -25.0, -25.0, 25.0]
    """
    known = {str(image): str(group) for image, group in groups.items() if not pd.isna(group)}
    group_by_row = clusters["image"].astype(STRING).map(known)
    cluster, group = clusters["cluster"][group_by_row.notna()], group_by_row.dropna()
    numbers = sorted(set(clusters["cluster"]))
    counts = pd.crosstab(cluster, group).reindex(numbers, fill_value=0)

    inside = counts.to_numpy(dtype=np.float64)
    sizes = inside.sum(axis=1, keepdims=True) + np.zeros_like(inside)
    outside, rest = inside.sum(axis=0) - inside, inside.sum() - sizes
    low, high = newcombe(inside.ravel(), sizes.ravel(), outside.ravel(), rest.ravel(), confidence)

    # A share inside minus the share overall is the part of the rest times inside minus outside.
    with np.errstate(invalid="ignore"):
        shift = (inside / sizes - outside / rest).ravel()
        part = 100 * (rest / (sizes + rest)).ravel()
    value, low, high = (np.where(part == 0, 0, part * limit) for limit in (shift, low, high))

    names = names or {}
    labels = [f"{names.get(number, number)}: {name}" for number in numbers for name in counts]
    return score_frame("cluster_shift", labels, value, low, high, sizes.ravel())


def cluster_names(words: Mapping[int, list[str]], taken: Collection[str] = ()) -> dict[int, str]:
    """A name for each cluster, of its first words; with its number where that name is taken.

    Parameters
    ----------
    words : mapping of int to list of str
        From `salient_words`.
    taken : collection of str
        Names of others, such as a dataset's concepts.

    Examples
    --------
    >>> cluster_names({0: ["ski", "snow", "slope"], 1: ["ski", "snow", "slope"], 2: []})
    {0: 'ski, snow, slope', 1: 'ski, snow, slope (cluster 1)', 2: 'cluster 2'}
    >>> cluster_names({0: ["dog"]}, taken=["dog"])
    {0: 'dog (cluster 0)'}
    """
    used = set(taken)
    names: dict[int, str] = {}
    for number, cluster_words in words.items():
        first = [clean_name(word[:_LONGEST]) for word in cluster_words[:_NAMED_BY]]
        name = ", ".join(first) or f"cluster {number}"
        while name in used:
            name = f"{name} (cluster {number})"
        names[number] = name
        used.add(name)
    return names


class ClusterOptions(Options):
    """Options of caption clusters.

    Parameters
    ----------
    k : int
        How many clusters.
    column : str
        The groups' column; the first one by default.
    words : str
        A word list, built-in or a TOML file, whose words for groups do not name clusters.
    confidence : float
        Of the intervals.
    """

    k: int = Field(default=20, ge=1)
    column: str = ""
    words: str = "gensynth"
    confidence: float = Field(default=0.95, gt=0, lt=1)


def _compute(inputs: Inputs, options: Any) -> pd.DataFrame:
    captions, groups = inputs.need("references"), inputs.need("groups")
    columns = [str(name) for name in groups if name not in ("image", "n")]
    column = options.column or columns[0]
    if column not in columns:
        raise OptionError(f"groups have no column {column!r}, and have {', '.join(columns)}.")

    points = inputs.vectors("texts")
    clusters = cluster_captions(captions, points, inputs.generator(), k=options.k)
    words = salient_words(captions, clusters, leave_out=group_words(options.words))

    known = groups[~groups[column].isin((NONE, ""))].dropna(subset=column)
    group_by_image = dict(zip(known["image"].astype(STRING), known[column], strict=True))
    scores = caption_clusters(
        clusters, group_by_image, names=cluster_names(words), confidence=options.confidence
    )
    left_out = ~clusters["image"].astype(STRING).isin(group_by_image)
    return with_left_out(scores, left_out.sum(), column)


PLUGIN = MetricPlugin(
    "caption_clusters",
    "Groups' shares in clusters of captions minus their shares overall, in percentage points.",
    extra="evaluate",
    options=ClusterOptions,
    takes=("references", "texts", "groups"),
    compute=_compute,
)
