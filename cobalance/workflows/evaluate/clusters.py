"""Cluster a dataset's captions: shares of classes in each, and clusters as concepts."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import STRING, Action, DataError, Progress, readable, silent
from cobalance.evaluation import (
    SOURCE,
    TEXT_FEATURES,
    caption_clusters,
    cluster_captions,
    cluster_names,
    group_words,
    match_words,
    salient_words,
)
from cobalance.graph import GraphStore, IngestReport, read_annotations, replace_mentions
from cobalance.ingest import read_image_texts

# Put in place of a group's word.
_PERSON = "person"


@dataclass(frozen=True)
class ClusterSettings:
    """How captions are clustered.

    Parameters
    ----------
    clusters : int
        K of K-means; 20 in GenSynth.
    embed : str
        A name in `cobalance.evaluation.training.texts.TEXT_FEATURES`.
    options : mapping
        Its options.
    words : str
        A word list, built-in or a TOML file: its words for groups are read as "person" and name no
        cluster; empty to leave captions as they are.
    seed : int
        Of K-means and the embedding.
    """

    clusters: int = 20
    embed: str = "clip"
    options: Mapping[str, Any] | None = None
    words: str = "gensynth"
    seed: int = 0


@dataclass(frozen=True)
class Clustered:
    """Clusters of a dataset's captions.

    Parameters
    ----------
    images : pandas.DataFrame
        ``image`` and ``cluster``, from 0 by descending size; images without captions are left out.
    names : mapping of int to str
        Of clusters: their first words.
    shifts : pandas.DataFrame
        ``cluster``, ``name``, ``group``, ``shift``, ``low``, ``high`` (percentage points), ``n``
        (the cluster's images) and ``words`` (a list of str), of each cluster and class.
    without : int
        Images without captions.
    """

    images: pd.DataFrame
    names: Mapping[int, str]
    shifts: pd.DataFrame
    without: int


def cluster_dataset(
    store: GraphStore,
    folder: Path,
    dataset: str,
    settings: ClusterSettings,
    *,
    progress: Progress = silent,
) -> Clustered:
    """Cluster the captions kept beside the graph, with the dataset's classes as groups.

    Parameters
    ----------
    folder : Path
        Of all datasets' captions.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    DataError
        It has no captions, or too few different ones.
    UnknownNameError, InputError, MissingExtraError, JobBlockedError
        There are no such embeddings or words, or they cannot be loaded.
    """
    texts = TEXT_FEATURES.open(settings.embed, settings.options)
    group_terms = group_words(settings.words) if settings.words else frozenset()
    annotations = read_annotations(store, dataset, progress)
    images, mentions = annotations.images, annotations.mentions

    captions = _captions(folder, dataset, images)
    if not len(captions):
        raise DataError(
            f"{dataset!r} has no captions. To load it with captions, ",
            Action("ingest", ..., dataset=dataset),
            ".",
        )

    progress("embed captions", 0, len(captions))
    points = texts.read(_neutral(captions["caption"], group_terms), settings.seed)
    progress("cluster captions", 0, None)
    rng = np.random.default_rng(settings.seed)
    clusters = cluster_captions(captions, points, rng, k=settings.clusters)

    # A cluster is named by its topic, not by the classes or groups that it is compared between.
    classes = dict(zip(images["id"], images["class_name"].astype(STRING), strict=True))
    leave_out = frozenset[str]()
    if settings.words:
        leave_out = group_terms.union(*(readable(name).split() for name in set(classes.values())))
    words = salient_words(captions, clusters, leave_out=leave_out)

    other_concepts = mentions.loc[mentions["source"] != SOURCE, "concept"]
    names = cluster_names(words, taken=set(other_concepts))
    shifts = _shifts(caption_clusters(clusters, classes), names, words)
    return Clustered(clusters, names, shifts, without=len(images) - len(clusters))


def keep_clusters(
    store: GraphStore, dataset: str, found: Clustered, *, progress: Progress = silent
) -> IngestReport:
    """Make each cluster a concept of its images, in place of the clusters kept before.

    Errors are those of `cobalance.graph.dataset.mentions.replace_mentions`.
    """
    mentions = pd.DataFrame(
        {
            "image": found.images["image"],
            "concept": found.images["cluster"].map(found.names),
            "source": SOURCE,
            "score": np.nan,
        }
    )
    return replace_mentions(store, dataset, [SOURCE], mentions, progress=progress)


def remove_clusters(
    store: GraphStore, dataset: str, *, progress: Progress = silent
) -> IngestReport:
    """Remove the concepts that were clusters: the dataset is as it was without them."""
    no_mentions = pd.DataFrame({"image": [], "concept": [], "source": [], "score": []})
    return replace_mentions(store, dataset, [SOURCE], no_mentions, progress=progress)


def _captions(folder: Path, dataset: str, images: pd.DataFrame) -> pd.DataFrame:
    """``image`` and ``caption`` of the dataset's images, in order of id; blank ones left out."""
    texts = read_image_texts(folder, dataset)
    frame = texts[["id", "captions"]].explode("captions").dropna()
    frame = frame.rename(columns={"id": "image", "captions": "caption"})
    blank = frame["caption"].str.strip() == ""
    return frame[frame["image"].isin(images["id"]) & ~blank].reset_index(drop=True)


def _neutral(captions: pd.Series, words: Collection[str]) -> list[str]:
    """Captions with "person" for each word of a group."""
    pattern = match_words(words)
    if not pattern:
        return captions.tolist()
    return [pattern.sub(_PERSON, caption) for caption in captions]


def _shifts(
    scores: pd.DataFrame, names: Mapping[int, str], words: Mapping[int, list[str]]
) -> pd.DataFrame:
    parts = scores["group"].str.partition(": ")
    numbers = parts[0].astype(int)
    return pd.DataFrame(
        {
            "cluster": numbers,
            "name": numbers.map(names),
            "group": parts[2],
            "shift": scores["value"],
            "low": scores["low"],
            "high": scores["high"],
            "n": scores["n"].astype(int),
            "words": numbers.map(words),
        }
    )
