"""Mined cliques in the store: their packed copy, totals, images and options.

Reading 76,522 clique nodes with their edges takes seconds, reading the packed copy milliseconds.
Mining writes both, and records in both what was mined.
"""

from dataclasses import dataclass, replace

import numpy as np

from cobalance.base.errors import Action, OptionError, StaleError
from cobalance.counting.cliques import Cliques, Clustering
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database import schema
from cobalance.graph.database.claim import Claim
from cobalance.graph.database.statements import clear_statement
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.compared import read_compared_table, read_one_against_rest
from cobalance.graph.dataset.incidence_table import SplitIncidence, read_incidence_table
from cobalance.graph.dataset.packing import pack, unpack, write_packed
from cobalance.graph.dataset.state import DatasetState, dataset_state

CLIQUES_PER_PART = 100_000

_MEMBER, _COUNT, _EFFECT = np.dtype("<i4"), np.dtype("<i8"), np.dtype("<f8")


@dataclass(frozen=True)
class CliqueTotals:
    """Numbers of cliques: of one concept, of any size, and with a gap above 0.

    Also those that lean to a class, with a q-value of at most 0.05, and of the others those that
    have a gap, too.
    """

    concepts: int
    cliques: int
    imbalanced: int
    leaning: int
    unproven: int


def clique_totals(store: GraphStore, dataset: str) -> CliqueTotals:
    """Count the mined cliques; StaleError if the dataset is not mined or has changed since."""
    state = dataset_state(store, dataset)
    state.require_mined()
    if state.compared:
        table = read_compared_table(store, state)
        leans, gap = table["leans"], table["gap"] > 0
        found = ((table["size"] == 1), table["size"] > 0, gap, leans, gap & ~leans)
        return CliqueTotals(*(int(rows.sum()) for rows in found))
    (row,) = store.read(statements.CLIQUE_TOTALS, dataset=dataset)
    return CliqueTotals(**row)


def read_mining_options(store: GraphStore, dataset: str) -> MiningOptions:
    """Read the options of the dataset's mining; StaleError if it is not mined or has changed."""
    return mining_of(dataset_state(store, dataset))


def mining_of(state: DatasetState) -> MiningOptions:
    """Return the mining options in a dataset's state; StaleError as from `require_mined`."""
    state.require_mined()
    return state.mining_options()


def load_cliques(store: GraphStore, dataset: str, *, max_size: int | None = None) -> Cliques:
    """Read the mined cliques back with their counts; see `read_cliques`."""
    return read_cliques(store, dataset_state(store, dataset), max_size=max_size)


def read_cliques(store: GraphStore, state: DatasetState, *, max_size: int | None = None) -> Cliques:
    """Read the mined cliques back with their counts, in the kernel's order.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    OptionError
        It was mined to a smaller size than `max_size`.
    """
    mined = mining_of(state).max_size
    if max_size is not None and max_size > mined:
        raise OptionError(
            f"{state.name!r} was mined up to size {mined}, not {max_size}. ",
            Action("mine", state.name, max_size=max_size),
            ".",
        )
    if state.compared:
        cliques = read_one_against_rest(store, state)
    else:
        cliques = read_clique_table(store, state, mined)
    if max_size is None:
        return cliques
    kept = np.searchsorted(cliques.sizes(), max_size, side="right")  # they are in order of size
    small = cliques.take(slice(kept))
    return replace(small, members=small.members[:, :max_size])


def write_clique_table(claim: Claim, mined_as: str, cliques: Cliques) -> None:
    """Replace the dataset's packed cliques.

    Parameters
    ----------
    mined_as : str
        As `DatasetState.mined_as` will be.
    """
    claim.write(clear_statement(schema.CLIQUE_TABLE))
    known = np.unique(cliques.members)
    known = known[known >= 0]  # concepts that are in no clique are left out
    members = np.where(cliques.members < 0, -1, np.searchsorted(known, cliques.members))
    concepts = [cliques.concepts[code] for code in known.tolist()]
    parts = max(1, -(-len(cliques) // CLIQUES_PER_PART))
    for part in range(parts):
        rows = slice(part * CLIQUES_PER_PART, (part + 1) * CLIQUES_PER_PART)
        packed = [pack(members[rows], _MEMBER), pack(cliques.counts[rows], _COUNT), None, None]
        if (held := cliques.clustering) is not None:
            whole = np.stack([held.standing, held.freedom], axis=1)[rows]
            effects = np.stack([held.tests, held.intervals, held.own], axis=1)[rows]
            packed[2:] = pack(whole, _COUNT), pack(effects, _EFFECT)
        row = [part, [mined_as, parts, concepts, *packed]]
        write_packed(claim, schema.CLIQUE_TABLE, [row])


def has_clique_table(store: GraphStore, state: DatasetState) -> bool:
    """Whether the packed cliques are complete and belong to `state`."""
    (row,) = store.read(statements.CLIQUE_TABLE_PARTS, dataset=state.name, mined_as=state.mined_as)
    return bool(row["found"] == row["parts"])


def read_clique_table(store: GraphStore, state: DatasetState, width: int) -> Cliques:
    """Read the dataset's cliques as `mine_cliques` returned them, without unused concepts.

    Parameters
    ----------
    state : DatasetState
        Mined.
    width : int
        The largest size that was mined.

    Raises
    ------
    StaleError
        They have been mined anew since `state` was read, or the copy was deleted.
    """
    parts = store.read(statements.CLIQUE_TABLE, dataset=state.name, mined_as=state.mined_as)
    if not parts or len(parts) != parts[0]["parts"]:
        raise StaleError(
            f"The cliques of {state.name!r} have changed meanwhile. ",
            Action("mine", state.name),
            ", or wait if it is being mined now.",
        )
    classes = tuple(name for name, _ in state.own_classes)
    members, counts = (
        unpack([part[name] for part in parts], dtype).reshape(-1, columns)
        for name, dtype, columns in (("members", _MEMBER, width), ("counts", _COUNT, len(classes)))
    )
    sizes = np.array([images for _, images in state.own_classes], dtype=np.int64)
    names = tuple(parts[0]["concepts"])
    clustering = None
    if parts[0]["clusters"] is not None:
        whole = unpack([part["clusters"] for part in parts], _COUNT).reshape(-1, 2).T
        effects = unpack([part["design_effects"] for part in parts], _EFFECT)
        of_kind = effects.reshape(-1, 3, len(classes)).swapaxes(0, 1)
        clustering = Clustering(*whole, *of_kind)
    members, counts = members.astype(np.int32), counts.astype(np.int64)
    return Cliques(members, counts, sizes, names, classes, clustering)


def read_mined_digest(store: GraphStore, dataset: str) -> int | None:
    """The digest of the images that the packed cliques were mined from."""
    return _read_mined_as(store, dataset)[0]


def read_former(
    store: GraphStore, state: DatasetState, options: MiningOptions
) -> tuple[Cliques, SplitIncidence] | None:
    """Read the cliques that were mined last, and the images that they were mined from.

    Returns
    -------
    Cliques, SplitIncidence
        None unless both are complete and `options` would have counted the same; the images of the
        options' split.
    """
    digest, text = _read_mined_as(store, state.name)
    if (
        digest is None
        or replace(MiningOptions.from_json(text), confidence=options.confidence) != options
    ):
        return None
    images = read_incidence_table(store, replace(state, digest=digest))
    if images is None:
        return None
    before = images.take(images.in_split(options.split))
    incidence = before.of_split(None)
    sizes = tuple(zip(incidence.classes, incidence.class_sizes().tolist(), strict=True))
    then = replace(state, cliques_digest=digest, mining=text, own_classes=sizes)
    try:
        return read_clique_table(store, then, options.max_size), before
    except StaleError:
        return None


def _read_mined_as(store: GraphStore, dataset: str) -> tuple[int | None, str]:
    """The digest of the images, and the options as JSON."""
    for row in store.read(statements.MINED_AS, dataset=dataset):
        digest, _, options = row["mined_as"].partition(" ")
        return int(digest), options
    return None, ""
