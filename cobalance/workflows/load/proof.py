"""A few of the images that an import would load, to see whether they were read as meant."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from cobalance.graph.arrays import IntArray
from cobalance.graph.records import Annotations, plain_values
from cobalance.ingest.images.regions import regions_in

MOST = 12


@dataclass(frozen=True)
class ProofImage:
    """An image as it was read: its class, its concepts, and where its file should be."""

    id: str
    class_name: str
    concepts: tuple[str, ...]
    uri: str | None


@dataclass(frozen=True, eq=False)
class Proof:
    """Some images of all classes.

    Parameters
    ----------
    images : tuple of ProofImage
        At most `MOST`, class by class.
    regions : pandas.DataFrame
        Their boxes and outlines, as `cobalance.ingest.images.regions.read_regions` gives them.
    """

    images: tuple[ProofImage, ...]
    regions: pd.DataFrame


def proof_of(annotations: Annotations) -> Proof:
    """Choose images of each class, as many of each, from its whole length; with concepts if any."""
    chosen = _take(annotations, _rows(annotations))
    images = chosen.images
    named = chosen.mentions.groupby("image")["concept"].agg(
        lambda names: list(dict.fromkeys(names))
    )
    columns = (plain_values(images[name]) for name in ("id", "class_name", "uri"))
    return Proof(
        tuple(
            ProofImage(id_, class_name, tuple(named.get(row, ())), uri)
            for row, (id_, class_name, uri) in enumerate(zip(*columns, strict=True))
        ),
        regions_in(chosen),
    )


def _rows(annotations: Annotations) -> IntArray:
    """Rows of the images to show: evenly spaced in each of the largest classes."""
    codes = annotations.images["class_name"].cat.codes.to_numpy()
    sizes = np.bincount(codes)
    largest = sorted(np.argsort(-sizes, kind="stable")[: min((sizes > 0).sum(), MOST)].tolist())
    shows = np.zeros(len(codes), dtype=bool)
    shows[annotations.mentions["image"].to_numpy()] = True
    found = []
    for code in largest:
        rows = np.flatnonzero((codes == code) & shows)
        if not len(rows):
            rows = np.flatnonzero(codes == code)
        at = np.linspace(0, len(rows) - 1, min(len(rows), MOST // len(largest)))
        found.append(rows[at.astype(np.int64)])
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def _take(annotations: Annotations, rows: IntArray) -> Annotations:
    """The annotations of some images alone, in this order."""
    place = pd.Series(np.arange(len(rows)), index=rows)

    def move(frame: pd.DataFrame) -> pd.DataFrame:
        kept = frame[frame["image"].isin(rows)]
        return kept.assign(image=kept["image"].map(place).astype(np.int64)).reset_index(drop=True)

    objects = annotations.objects
    return replace(
        annotations,
        images=annotations.images.iloc[rows].reset_index(drop=True),
        mentions=move(annotations.mentions),
        objects=None if objects is None else move(objects),
        texts=None,
    )
