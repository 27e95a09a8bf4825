"""All images of a dataset with their class, split and concepts, packed into a few nodes.

Reading a million images edge by edge takes a minute. Loading writes this copy beside them; it names
the digest of the images that it is of.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
import pandas as pd

from cobalance.base.arrays import IntArray
from cobalance.counting.incidence import Incidence
from cobalance.graph.database import schema
from cobalance.graph.database.claim import Claim
from cobalance.graph.database.statements import clear_statement
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.packing import pack, pack_texts, unpack, unpack_texts, write_packed
from cobalance.graph.dataset.state import DatasetState

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
        names = sorted({self.split_names[code] for code in np.unique(self.splits) if code >= 0})
        recode = {name: code for code, name in enumerate(names)}
        codes = np.array([*(recode.get(name, -1) for name in self.split_names), -1], dtype=np.int64)
        splits = codes[self.splits]  # -1 is the last
        rng = np.random.default_rng(_HASH_SEED)  # equal sums: equal concepts, but for one in 2^64
        of_concept = rng.integers(-(2**63), 2**63 - 1, len(incidence.concepts))
        equal = pd.util.hash_array(np.array(self.ids, dtype=object), categorize=False)
        keys = (incidence.sum_rows(of_concept), splits, incidence.labels)
        order = np.lexsort((equal, *keys) if len(equal) else keys)
        named = replace(self, incidence=incidence, splits=splits, split_names=tuple(names))
        ordered = named.take(order)
        clusters = ordered.incidence.clusters
        if clusters is None:
            return ordered
        seen = pd.factorize(np.where(clusters < 0, np.nan, clusters))[0]  # in their order
        return replace(ordered, incidence=replace(ordered.incidence, clusters=seen))

    def take(self, rows: IntArray) -> "SplitIncidence":
        """Return the images at some positions, with all names of concepts, classes and splits."""
        places = rows.tolist()
        return replace(
            self,
            incidence=self.incidence.take(rows),
            splits=self.splits[rows],
            ids=[self.ids[row] for row in places] if self.ids else (),
            uris=[self.uris[row] for row in places] if self.uris else (),
        )

    def in_split(self, split: str | None) -> IntArray:
        """Positions of the images of a split, or of all."""
        if split is None:
            return np.arange(len(self.splits))
        code = self.split_names.index(split) if split in self.split_names else -2
        return np.flatnonzero(self.splits == code)


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
    parts = max(1, -(-n_images // IMAGES_PER_PART))
    names = [list(incidence.concepts), list(incidence.classes), list(images.split_names)]
    for part in range(parts):
        first, end = part * IMAGES_PER_PART, min((part + 1) * IMAGES_PER_PART, n_images)
        entries = slice(incidence.indptr[first], incidence.indptr[end])
        numbers = (
            incidence.labels[first:end],
            images.splits[first:end],
            np.diff(incidence.indptr[first : end + 1]),
            incidence.indices[entries],
        )
        clusters = incidence.clusters
        numbered = None if clusters is None else pack(clusters[first:end], _CODE)
        texts = [
            pack_texts(some[first:end]) if len(some) else None for some in (images.ids, images.uris)
        ]
        labels, splits, lengths, indices = (pack(some, _CODE) for some in numbers)
        packed = [labels, splits, lengths, numbered, indices, *texts]
        row = [part, [digest, parts, *names, *packed]]
        write_packed(claim, schema.INCIDENCE_TABLE, [row])


def read_incidence_table(store: GraphStore, state: DatasetState) -> SplitIncidence | None:
    """Read the packed images; None unless they are there and of the images that `state` is of."""
    if state.digest is None:
        return None
    parts = store.read(statements.INCIDENCE_TABLE, dataset=state.name, digest=state.digest)
    if not parts or len(parts) != parts[0]["parts"]:
        return None
    labels, splits, lengths, indices = (
        unpack([part[name] for part in parts], _CODE).astype(np.int32)
        for name in ("labels", "split_codes", "lengths", "indices")
    )
    concepts, classes = (tuple(parts[0][name]) for name in ("concepts", "classes"))
    packed = [part["clusters"] for part in parts]
    clusters = None if packed[0] is None else unpack(packed, _CODE).astype(np.int64)
    indptr = np.append(0, np.cumsum(lengths, dtype=np.int64))
    incidence = Incidence(indptr, indices, labels, concepts, classes, clusters)
    ids, uris = (
        [text for part in parts for text in unpack_texts(part[name])] for name in ("ids", "uris")
    )
    return SplitIncidence(incidence, splits, tuple(parts[0]["splits"]), ids, uris)


def _drop_unused(incidence: Incidence) -> Incidence:
    """Return the same images, without the classes and concepts that none of them has."""
    shown = np.bincount(incidence.indices, minlength=len(incidence.concepts)) > 0
    classes = incidence.class_sizes() > 0
    return replace(
        incidence.restrict(shown),
        labels=(np.cumsum(classes) - 1).astype(np.int32)[incidence.labels],
        classes=tuple(compress(incidence.classes, classes)),
    )
