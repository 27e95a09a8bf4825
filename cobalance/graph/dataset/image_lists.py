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

from cobalance.base.arrays import STRING, IntArray
from cobalance.counting.cliques import intersect_ascending
from cobalance.counting.incidence import Incidence
from cobalance.graph.database import schema
from cobalance.graph.database.claim import Claim
from cobalance.graph.database.statements import clear_statement
from cobalance.graph.database.store import GraphStore
from cobalance.graph.database.sync import batches
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.packing import pack, pack_texts, unpack, unpack_texts, write_packed

IDS_PER_PAGE = 1000

_BATCH = 50  # lists in a transaction
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
    for some in batches(rows, _BATCH):
        write_packed(claim, schema.IMAGE_LIST, some)


def find_images(
    store: GraphStore,
    dataset: str,
    concepts: Sequence[str],
    class_name: str | None,
    *,
    without: str | None = None,
    skip: int,
    limit: int,
) -> list[str] | None:
    """Return ids of the images that contain all the concepts, in order of id.

    They are of a class, or of any, and `without` one concept. None if the dataset has no lists of
    the images that it has now.
    """
    named = [(_CLASS, class_name), *((_CONCEPT, name) for name in {*concepts, without})]
    keys = [[kind, name] for kind, name in named if name is not None]
    found = store.read(statements.IMAGE_LISTS, dataset=dataset, keys=keys)
    if len(found) < len(keys):
        return None
    ranks_of: dict[tuple[str, str], IntArray] = {
        tuple(row["key"]): np.cumsum(unpack([row["content"]], _STEP), dtype=np.int64)
        for row in found
    }
    hidden = ranks_of.pop((_CONCEPT, without), None) if without is not None else None
    shared = reduce(intersect_ascending, sorted(ranks_of.values(), key=len))
    if hidden is not None:
        shared = np.setdiff1d(shared, hidden, assume_unique=True)
    ranks = shared[skip : skip + limit].tolist()
    pages = sorted({rank // IDS_PER_PAGE for rank in ranks})
    keys = [[_IDS, str(page)] for page in pages]
    found = store.read(statements.IMAGE_LISTS, dataset=dataset, keys=keys)
    if len(found) < len(keys):  # they have been replaced meanwhile
        return None
    ids = {int(row["key"][1]): unpack_texts(row["content"]) for row in found}
    return [ids[rank // IDS_PER_PAGE][rank % IDS_PER_PAGE] for rank in ranks]


def _lists(
    ids: Sequence[str] | ExtensionArray, incidence: Incidence
) -> Iterator[tuple[list[str], bytes]]:
    named = pd.Series(ids, dtype=STRING).array
    order = named.argsort()  # by code point
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    of_entry = np.repeat(rank, np.diff(incidence.indptr))
    for kind, names, codes, ranks in (
        (_CLASS, incidence.classes, incidence.labels, rank),
        (_CONCEPT, incidence.concepts, incidence.indices, of_entry),
    ):
        width = max(1, len(ids))
        entries = codes.astype(np.int64)
        entries *= width
        entries += ranks
        entries.sort()
        bounds = np.searchsorted(entries, np.arange(len(names) + 1) * width).tolist()
        for code, name in enumerate(names):
            content = entries[bounds[code] : bounds[code + 1]] - code * width
            if len(content):
                yield [kind, name], pack(np.diff(content, prepend=0), _STEP)
    for start in range(0, len(order), IDS_PER_PAGE):
        some = named[order[start : start + IDS_PER_PAGE]].tolist()
        yield [_IDS, str(start // IDS_PER_PAGE)], pack_texts(some)
