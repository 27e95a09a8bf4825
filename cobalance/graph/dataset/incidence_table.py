"""All images of a dataset with their class, split and concepts, packed into a few nodes.

Reading a million images edge by edge takes a minute. Loading writes this copy beside them; it names
the digest of the images that it is of.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
import pandas as pd

from cobalance.base import Annotations, IntArray, T, positions_of
from cobalance.counting import Incidence, incidence_of
from cobalance.graph.database import Claim, GraphStore, schema
from cobalance.graph.database.statements import clear_statement
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.packing import pack, pack_texts, unpack, unpack_texts, write_packed

IMAGES_PER_PART = 100_000

_CODE = np.dtype("<i4")
_HASH_SEED = 8


@dataclass(frozen=True, eq=False)
class SplitIncidence:
    """An incidence with the split of each image.

    Parameters
    ----------
    incidence : Incidence
        Of all images.
    splits : int array, shape (n_images,)
        Split codes, -1 for an image of none.
    split_names : tuple of str
        Names by code.
    ids : sequence of str
        Of the images, if they were read with them.
    uris : sequence of str or None
        Of their files, where a sample is to be chosen from them.
    """

    incidence: Incidence
    splits: IntArray
    split_names: tuple[str, ...]
    ids: Sequence[str] = ()
    uris: Sequence[str | None] = ()

    def of_split(self, split: str | None) -> Incidence:
        """Return the images of a split, or all, with the classes and concepts that they have."""
        whole = self.incidence
        return _drop_unused(whole if split is None else whole.take(self.in_split(split)))

    def sort_images(self) -> "SplitIncidence":
        """Return the images in an order that depends on their contents alone, names ascending."""
        incidence = _drop_unused(self.incidence)

        # The code -1, of no split, is the last of the new codes.
        names = sorted({self.split_names[code] for code in np.unique(self.splits) if code >= 0})
        code_of = positions_of(names)
        new_codes = [code_of.get(name, -1) for name in self.split_names]
        splits = np.array([*new_codes, -1], dtype=np.int64)[self.splits]

        # Images whose random numbers have equal sums show equal concepts, but for one in 2^64.
        rng = np.random.default_rng(_HASH_SEED)
        concept_hashes = rng.integers(-(2**63), 2**63 - 1, len(incidence.concepts))
        keys = [incidence.sum_rows(concept_hashes), splits, incidence.labels]
        if len(self.ids):
            keys.insert(0, pd.util.hash_array(np.array(self.ids, dtype=object), categorize=False))
        recoded = replace(self, incidence=incidence, splits=splits, split_names=tuple(names))
        ordered = recoded.take(np.lexsort(keys))

        clusters = ordered.incidence.clusters
        if clusters is None:
            return ordered
        # Clusters are numbered in the order in which the sorted images show them.
        codes, _ = pd.factorize(np.where(clusters < 0, np.nan, clusters))
        return replace(ordered, incidence=replace(ordered.incidence, clusters=codes))

    def take(self, rows: IntArray) -> "SplitIncidence":
        """Return the images at some positions, with all names of concepts, classes and splits."""

        def take_texts(texts: Sequence[T]) -> Sequence[T]:
            return [texts[row] for row in rows.tolist()] if texts else ()

        return replace(
            self,
            incidence=self.incidence.take(rows),
            splits=self.splits[rows],
            ids=take_texts(self.ids),
            uris=take_texts(self.uris),
        )

    def in_split(self, split: str | None) -> IntArray:
        """Positions of the images of a split, or of all."""
        if split is None:
            return np.arange(len(self.splits))
        if split not in self.split_names:
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.splits == self.split_names.index(split))


def split_incidence(annotations: Annotations) -> SplitIncidence:
    """Build the incidence matrix of annotations with their splits and ids, without files."""
    splits, ids = annotations.images["split"].cat, annotations.images["id"].tolist()
    codes = splits.codes.to_numpy(dtype=np.int64)
    return SplitIncidence(incidence_of(annotations), codes, tuple(splits.categories), ids)


def write_incidence_table(
    claim: Claim,
    digest: int,
    images: SplitIncidence,
    *,
    mined: int | None = None,
) -> None:
    """Replace the dataset's packed images.

    Equal images give equal bytes, whatever order they come in.

    Parameters
    ----------
    digest : int
        As `DatasetState.digest` will be.
    images : SplitIncidence
        Ids and files are packed, too, where it has them.
    mined : int or None
        The digest of packed images to keep until the dataset is mined again.
    """
    if mined is None or mined == digest:
        claim.write(clear_statement(schema.INCIDENCE_TABLE))
    else:
        claim.write(statements.DELETE_UNMINED_IMAGES, mined=mined)
        claim.write(statements.SET_MINED_IMAGES_ASIDE)

    images = images.sort_images()
    incidence = images.incidence
    n_images = len(incidence.labels)
    n_parts = max(1, math.ceil(n_images / IMAGES_PER_PART))
    names = [list(incidence.concepts), list(incidence.classes), list(images.split_names)]

    for part in range(n_parts):
        first, end = part * IMAGES_PER_PART, min((part + 1) * IMAGES_PER_PART, n_images)
        row = [part, [digest, n_parts, *names, *_pack_images(images, first, end)]]
        write_packed(claim, schema.INCIDENCE_TABLE, [row])


def _pack_images(images: SplitIncidence, first: int, end: int) -> list[bytes | None]:
    """Pack the images from one position to another, in the order of the node's properties."""
    incidence, clusters = images.incidence, images.incidence.clusters
    entries = slice(incidence.indptr[first], incidence.indptr[end])
    return [
        pack(incidence.labels[first:end], _CODE),
        pack(images.splits[first:end], _CODE),
        pack(np.diff(incidence.indptr[first : end + 1]), _CODE),
        None if clusters is None else pack(clusters[first:end], _CODE),
        pack(incidence.indices[entries], _CODE),
        pack_texts(images.ids[first:end]) if len(images.ids) else None,
        pack_texts(images.uris[first:end]) if len(images.uris) else None,
    ]


def read_incidence_table(
    store: GraphStore, dataset: str, digest: int | None
) -> SplitIncidence | None:
    """Read the packed images; None unless they are there and those of `DatasetState.digest`."""
    parts = store.read(statements.INCIDENCE_TABLE, dataset=dataset, digest=digest)
    if not parts or len(parts) != parts[0]["parts"]:
        return None

    def numbers(name: str) -> IntArray:
        return unpack([part[name] for part in parts], _CODE).astype(np.int32)

    def texts(name: str) -> list[str]:
        return [text for part in parts for text in unpack_texts(part[name])]

    clusters = None
    if parts[0]["clusters"] is not None:
        clusters = numbers("clusters").astype(np.int64)
    incidence = Incidence(
        indptr=np.append(0, np.cumsum(numbers("lengths"), dtype=np.int64)),
        indices=numbers("indices"),
        labels=numbers("labels"),
        concepts=tuple(parts[0]["concepts"]),
        classes=tuple(parts[0]["classes"]),
        clusters=clusters,
    )
    return SplitIncidence(
        incidence=incidence,
        splits=numbers("split_codes"),
        split_names=tuple(parts[0]["splits"]),
        ids=texts("ids"),
        uris=texts("uris"),
    )


def _drop_unused(incidence: Incidence) -> Incidence:
    """Return the same images, without the classes and concepts that none of them has."""
    has_image = np.bincount(incidence.indices, minlength=len(incidence.concepts)) > 0
    class_has_image = incidence.class_sizes() > 0
    new_labels = (np.cumsum(class_has_image) - 1).astype(np.int32)
    return replace(
        incidence.restrict(has_image),
        labels=new_labels[incidence.labels],
        classes=tuple(compress(incidence.classes, class_has_image)),
    )
