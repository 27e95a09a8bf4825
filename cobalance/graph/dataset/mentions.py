"""Replace the mentions of some sources in a dataset, and leave all others as they are."""

import json
from collections.abc import Collection

import numpy as np
import pandas as pd

from cobalance.base import STRING, Annotations, Progress, silent
from cobalance.graph.database import GraphStore
from cobalance.graph.database.sync import batches
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.image_contents import ImageContents
from cobalance.graph.dataset.read import annotations_of, read_annotations, read_left_out
from cobalance.graph.dataset.state import dataset_state
from cobalance.graph.dataset.write import TAG_SOURCE, IngestReport, write_changes


def replace_mentions(
    store: GraphStore,
    dataset: str,
    sources: Collection[str],
    found: pd.DataFrame,
    *,
    progress: Progress = silent,
) -> IngestReport:
    """Replace all mentions of some sources, such as models, by their new ones.

    Mentions of other sources stay as they are: where one has an image's concept already, the new
    mention is left out, unless it is a tag's, which it replaces. Images that a tag leaves out get
    their mentions, too. Without any new mentions the former graph is back. Only images that change
    are written; interrupted, it goes on when run again.

    Parameters
    ----------
    sources : collection of str
        Whose mentions go.
    found : pandas.DataFrame
        ``image`` (its id), ``concept``, ``source`` and ``score`` (NaN where unknown); images that
        the dataset does not have are left out.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    StoreError
        Another process writes the same dataset at the same time, or the database fails.
    """
    # Images that a tag leaves out show the same when they come back.
    left_out = annotations_of(read_left_out(store, dataset))
    changed = _changed_images(left_out, sources, found)
    if len(changed.images):
        _write_left_out(store, dataset, changed)

    present = read_annotations(store, dataset, progress)
    changed = _changed_images(present, sources, found)
    return write_changes(store, dataset_state(store, dataset), changed, progress=progress)


def _write_left_out(store: GraphStore, dataset: str, annotations: Annotations) -> None:
    """Change the concepts of images that are left out."""
    all_images = np.arange(len(annotations.images))
    edges = ImageContents.of(annotations).edges(all_images)
    ids = annotations.images["id"].tolist()
    rows = [
        [image, json.dumps([*zip(*columns, strict=True)])]
        for image, columns in zip(ids, edges, strict=True)
    ]

    for batch in batches(rows):
        store.write(statements.SET_LEFT_OUT, dataset=dataset, rows=list(batch))


def _changed_images(
    annotations: Annotations, sources: Collection[str], found: pd.DataFrame
) -> Annotations:
    """The images that lose or gain mentions, with all that they show then."""
    mentions = annotations.mentions
    is_old = mentions["source"].isin(list(sources)).to_numpy()
    is_tag = (mentions["source"] == TAG_SOURCE).to_numpy()
    new = _new_mentions(annotations.images, mentions[~is_old & ~is_tag], found)

    # Tags come last: whatever else mentions a concept stands in the place of a tag.
    is_new = _pairs(mentions).isin(_pairs(new))
    remaining = mentions[~is_old & ~(is_tag & is_new)]

    changed = np.union1d(mentions.loc[is_old, "image"].to_numpy(), new["image"].to_numpy())
    remaining = remaining[remaining["image"].isin(changed)]
    # The categories of both frames differ: they are concatenated as texts.
    merged = pd.concat([remaining.astype(_PLAIN), new.astype(_PLAIN)])
    return Annotations(annotations.images, merged.astype(_CODED)).take(changed)


def _pairs(mentions: pd.DataFrame) -> pd.MultiIndex:
    """Image and concept of each mention."""
    return pd.MultiIndex.from_arrays([mentions["image"], mentions["concept"].astype(object)])


_PLAIN = {"concept": STRING, "source": STRING}
_CODED = {"concept": "category", "source": "category"}


def _new_mentions(images: pd.DataFrame, others: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """Mentions as `Annotations` has them, of concepts that an image does not have yet."""
    rows = pd.Series(np.arange(len(images)), index=images["id"].to_numpy(object))
    new = pd.DataFrame(
        {
            "image": rows.reindex(found["image"].to_numpy(object)).to_numpy(),
            "concept": found["concept"].to_numpy(object),
            "source": found["source"].to_numpy(object),
            "score": found["score"].to_numpy(np.float64),
        }
    )

    new = new[new["image"].notna()].astype({"image": np.int64})
    new = new[~_pairs(new).isin(_pairs(others))]
    return new.reindex(columns=others.columns).assign(segmentation=None)
