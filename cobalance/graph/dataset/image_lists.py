"""Packed image lists of each class and concept, to find images that show several concepts.

Asking each image of the rarest concept for the others takes a second where a hundred thousand show
it. Loading writes these lists beside the images; they name the digest of the images that they are
of. An image is known by its rank among all ids; the ids themselves are in pages.
"""

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from cobalance.base import STRING, IntArray
from cobalance.counting import Incidence, intersect_ascending
from cobalance.graph.database import Claim, GraphStore, schema
from cobalance.graph.database.statements import clear_statement
from cobalance.graph.database.sync import batches
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.packing import pack, pack_texts, unpack, unpack_texts, write_packed

IDS_PER_PAGE = 1000

# Lists in a transaction.
_BATCH = 50
_STEP = np.dtype("<u4")
_CLASS, _CONCEPT, _IDS = "class", "concept", "ids"


def write_image_lists(
    claim: Claim,
    digest: int,
    ids: Sequence[str] | ExtensionArray,
    incidence: Incidence,
) -> None:
    """Replace the dataset's lists.

    Parameters
    ----------
    digest : int
        As `DatasetState.digest` will be.
    ids : sequence of str
        Of the images, in the incidence's order.
    """
    claim.write(clear_statement(schema.IMAGE_LIST))
    rows = [[key, [digest, content]] for key, content in _lists(ids, incidence)]
    for batch in batches(rows, _BATCH):
        write_packed(claim, schema.IMAGE_LIST, batch)


def find_images(
    store: GraphStore,
    dataset: str,
    concepts: Sequence[str],
    class_name: str | None,
    *,
    without: str | None = None,
    skip: int,
    limit: int,
) -> tuple[list[str], int] | None:
    """Return ids of images that contain all the concepts, in order of id, and how many there are.

    They are of a class, or of any, and `without` one concept; all images where nothing is asked
    for. None if the dataset has no lists of the images that it has now.
    """
    names = {*concepts} if without is None else {*concepts, without}
    keys = [[_CONCEPT, name] for name in names]
    if class_name is not None:
        keys.append([_CLASS, class_name])
    rows = store.read(statements.IMAGE_LISTS, dataset=dataset, keys=keys)
    if len(rows) < len(keys):
        return None

    # A list holds the differences of its ranks.
    ranks_of: dict[tuple[str, str], IntArray] = {
        tuple(row["key"]): np.cumsum(unpack([row["content"]], _STEP), dtype=np.int64)
        for row in rows
    }
    excluded = None if without is None else ranks_of.pop((_CONCEPT, without))
    if ranks_of:
        shared = reduce(intersect_ascending, sorted(ranks_of.values(), key=len))
    else:
        # The page of ids, below, tells whether there are lists of that many images.
        (state,) = store.read(statements.DATASET, dataset=dataset)
        shared = np.arange(state["dataset"]["images"])
    if excluded is not None:
        shared = np.setdiff1d(shared, excluded, assume_unique=True)
    ranks = shared[skip : skip + limit].tolist()

    pages = sorted({rank // IDS_PER_PAGE for rank in ranks})
    keys = [[_IDS, str(page)] for page in pages]
    rows = store.read(statements.IMAGE_LISTS, dataset=dataset, keys=keys)
    # Pages are missing where the lists have been replaced since they were read.
    if len(rows) < len(keys):
        return None
    ids = {int(row["key"][1]): unpack_texts(row["content"]) for row in rows}
    return [ids[rank // IDS_PER_PAGE][rank % IDS_PER_PAGE] for rank in ranks], len(shared)


def _lists(
    ids: Sequence[str] | ExtensionArray, incidence: Incidence
) -> Iterator[tuple[list[str], bytes]]:
    """Key and packed content of each list, then of each page of ids."""
    # Ranks are by code point.
    texts = pd.Series(ids, dtype=STRING).array
    order = texts.argsort()
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    rank_of_entry = np.repeat(rank, np.diff(incidence.indptr))

    for name, content in _sorted_ranks(incidence.classes, incidence.labels, rank):
        yield [_CLASS, name], content
    for name, content in _sorted_ranks(incidence.concepts, incidence.indices, rank_of_entry):
        yield [_CONCEPT, name], content

    for start in range(0, len(order), IDS_PER_PAGE):
        page = texts[order[start : start + IDS_PER_PAGE]].tolist()
        yield [_IDS, str(start // IDS_PER_PAGE)], pack_texts(page)


def _sorted_ranks(
    names: Sequence[str], codes: IntArray, ranks: IntArray
) -> Iterator[tuple[str, bytes]]:
    """The packed ranks of each name that has any, from all ranks with the codes of their names."""
    # One sort of numbers that hold the code and the rank takes the place of one sort a name.
    width = int(ranks.max(initial=0)) + 1
    entries = codes.astype(np.int64)
    entries *= width
    entries += ranks
    entries.sort()

    bounds = np.searchsorted(entries, np.arange(len(names) + 1) * width).tolist()
    for code, name in enumerate(names):
        sorted_ranks = entries[bounds[code] : bounds[code + 1]] - code * width
        if len(sorted_ranks):
            yield name, pack(np.diff(sorted_ranks, prepend=0), _STEP)
