"""Mined cliques in the store: their packed copy, totals, images and options.

Reading 76,522 clique nodes with their edges takes seconds, reading the packed copy milliseconds.
Mining writes both, and records in both what was mined.

A dataset may be compared by concepts in place of its classes, each with the images without it.
Nothing of a comparison is stored but its concepts: it is counted from the packed images when it is
read, which takes milliseconds for tens of thousands of images.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import Action, OptionError, StaleError, check_known, clean_name
from cobalance.counting import (
    Cliques,
    Clustering,
    MiningOptions,
    label_by,
    mine_one_against_rest,
)
from cobalance.graph.database import Claim, GraphStore, schema
from cobalance.graph.database.statements import clear_statement
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.incidence_table import SplitIncidence, read_incidence_table
from cobalance.graph.dataset.packing import pack, unpack, write_packed
from cobalance.graph.dataset.read import load_images
from cobalance.graph.dataset.state import DatasetState, dataset_state
from cobalance.statistics import imbalance_table, with_clusters

CLIQUES_PER_PART = 100_000

_MEMBER, _COUNT, _EFFECT = np.dtype("<i4"), np.dtype("<i8"), np.dtype("<f8")


@dataclass(frozen=True)
class CliqueTotals:
    """Numbers of cliques: of one concept, of any size, and with a gap above 0.

    Also those that lean to a class, with a q-value of at most 0.05, and of the others those that
    have a gap, too. `left_out` are concepts that are not common to the classes; it is 0 where the
    numbers of the graph do not tell, as only some images or frequent concepts were mined.
    """

    concepts: int
    cliques: int
    imbalanced: int
    leaning: int
    unproven: int
    left_out: int = 0


def clique_totals(store: GraphStore, dataset: str) -> CliqueTotals:
    """Count the mined cliques; StaleError if the dataset is not mined or has changed since."""
    state = dataset_state(store, dataset)
    state.require_mined()
    if state.compared:
        table = read_compared_table(store, state)
        leans, has_gap = table["leans"], table["gap"] > 0
        return CliqueTotals(
            concepts=int((table["size"] == 1).sum()),
            cliques=len(table),
            imbalanced=int(has_gap.sum()),
            leaning=int(leans.sum()),
            unproven=int((has_gap & ~leans).sum()),
        )

    (row,) = store.read(statements.CLIQUE_TOTALS, dataset=dataset)
    not_mined = row.pop("in_graph") - row["concepts"]
    options = state.mining_options()
    # Otherwise concepts may be left out for another reason.
    if options.common == () or options.split is not None or options.min_support > 1:
        not_mined = 0
    return CliqueTotals(**row, left_out=not_mined)


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
    require_size(state, max_size)
    if state.compared:
        cliques = _read_compared(store, state)[state.compared[0]]
    else:
        mined = mining_of(state).max_size
        cliques = read_clique_table(store, state.name, state.mined_as, state.own_classes, mined)
    if max_size is None:
        return cliques

    # Cliques are in order of size: the small ones come first.
    n_small = np.searchsorted(cliques.sizes(), max_size, side="right")
    small = cliques.take(slice(n_small))
    return replace(small, members=small.members[:, :max_size])


def require_size(state: DatasetState, max_size: int | None) -> None:
    """Raise OptionError where a dataset was mined to a smaller size."""
    mined = mining_of(state).max_size
    if max_size is not None and max_size > mined:
        raise OptionError(
            f"{state.name!r} was mined up to size {mined}, not {max_size}. ",
            Action("mine", state.name, max_size=max_size),
            ".",
        )


def write_clique_table(claim: Claim, mined_as: str, cliques: Cliques) -> None:
    """Replace the dataset's packed cliques.

    Parameters
    ----------
    mined_as : str
        As `DatasetState.mined_as` will be.
    """
    claim.write(clear_statement(schema.CLIQUE_TABLE))
    # Concepts that are in no clique are left out; -1 fills the rows of smaller cliques.
    codes = np.unique(cliques.members)
    codes = codes[codes >= 0]
    members = np.where(cliques.members < 0, -1, np.searchsorted(codes, cliques.members))
    concepts = [cliques.concepts[code] for code in codes.tolist()]

    n_parts = max(1, math.ceil(len(cliques) / CLIQUES_PER_PART))
    for part in range(n_parts):
        rows = slice(part * CLIQUES_PER_PART, (part + 1) * CLIQUES_PER_PART)
        packed = [pack(members[rows], _MEMBER), pack(cliques.counts[rows], _COUNT), None, None]
        clustering = cliques.clustering
        if clustering is not None:
            clusters = np.stack([clustering.standing, clustering.freedom], axis=1)[rows]
            effects = [clustering.tests, clustering.intervals, clustering.own]
            packed[2] = pack(clusters, _COUNT)
            packed[3] = pack(np.stack(effects, axis=1)[rows], _EFFECT)
        row = [part, [mined_as, n_parts, concepts, *packed]]
        write_packed(claim, schema.CLIQUE_TABLE, [row])


def has_clique_table(store: GraphStore, dataset: str, mined_as: str) -> bool:
    """Whether the packed cliques are complete and those of `DatasetState.mined_as`."""
    (row,) = store.read(statements.CLIQUE_TABLE_PARTS, dataset=dataset, mined_as=mined_as)
    return bool(row["found"] == row["parts"])


def read_clique_table(
    store: GraphStore,
    dataset: str,
    mined_as: str,
    class_sizes: Sequence[tuple[str, int]],
    width: int,
) -> Cliques:
    """Read the dataset's cliques as `mine_cliques` returned them, without unused concepts.

    Parameters
    ----------
    mined_as : str
        As `DatasetState.mined_as`.
    class_sizes : sequence of (str, int)
        The classes with their images that were mined, by name in ascending order.
    width : int
        The largest size that was mined.

    Raises
    ------
    StaleError
        They have been mined anew since, or the copy was deleted.
    """
    parts = store.read(statements.CLIQUE_TABLE, dataset=dataset, mined_as=mined_as)
    if not parts or len(parts) != parts[0]["parts"]:
        raise StaleError(
            f"The cliques of {dataset!r} have changed meanwhile. ",
            Action("mine", dataset),
            ", or wait if it is being mined now.",
        )

    def column(name: str, dtype: np.dtype[Any]) -> Any:
        return unpack([part[name] for part in parts], dtype)

    n_classes = len(class_sizes)
    clustering = None
    if parts[0]["clusters"] is not None:
        standing, freedom = column("clusters", _COUNT).reshape(-1, 2).T
        effects = column("design_effects", _EFFECT).reshape(-1, 3, n_classes)
        tests, intervals, own = effects.swapaxes(0, 1)
        clustering = Clustering(
            standing=standing, freedom=freedom, tests=tests, intervals=intervals, own=own
        )

    return Cliques(
        members=column("members", _MEMBER).reshape(-1, width).astype(np.int32),
        counts=column("counts", _COUNT).reshape(-1, n_classes).astype(np.int64),
        class_sizes=np.array([images for _, images in class_sizes], dtype=np.int64),
        concepts=tuple(parts[0]["concepts"]),
        classes=tuple(name for name, _ in class_sizes),
        clustering=clustering,
    )


def read_mined_digest(store: GraphStore, dataset: str) -> int | None:
    """The digest of the images that the packed cliques were mined from."""
    return _read_mined_as(store, dataset)[0]


def read_former(
    store: GraphStore, dataset: str, options: MiningOptions
) -> tuple[Cliques, SplitIncidence] | None:
    """Read the cliques that were mined last, and the images that they were mined from.

    Returns
    -------
    Cliques, SplitIncidence
        None unless both are complete and `options` would have counted the same; the images of the
        options' split.
    """
    digest, text = _read_mined_as(store, dataset)
    if digest is None:
        return None
    # The confidence is of the statistics, which are computed anew: it changes no count.
    former_options = replace(MiningOptions.from_json(text), confidence=options.confidence)
    if former_options != options:
        return None

    images = read_incidence_table(store, dataset, digest)
    if images is None:
        return None

    before = images.take(images.in_split(options.split))
    incidence = before.of_split(None)
    sizes = tuple(zip(incidence.classes, incidence.class_sizes().tolist(), strict=True))
    mined_as = f"{digest} {text}"
    try:
        return read_clique_table(store, dataset, mined_as, sizes, options.max_size), before
    except StaleError:
        return None


def _read_mined_as(store: GraphStore, dataset: str) -> tuple[int | None, str]:
    """The digest of the images, and the options as JSON."""
    for row in store.read(statements.MINED_AS, dataset=dataset):
        digest, _, options = row["mined_as"].partition(" ")
        return int(digest), options
    return None, ""


def comparison_of(
    store: GraphStore, state: DatasetState, concepts: Sequence[str]
) -> dict[str, Any]:
    """Read the properties of a mined dataset that is compared by concepts, or by its classes.

    Parameters
    ----------
    concepts : sequence of str
        The first is compared; none for the dataset's classes.

    Raises
    ------
    StaleError, DataError
        The dataset has not been mined, or its images are elsewhere.
    UnknownNameError
        No image shows one of them.
    """
    state.require_mined()
    return read_comparison(
        state, concepts, state.mining_options().split, partial(load_images, store, state)
    )


def read_comparison(
    state: DatasetState,
    concepts: Sequence[str] | None,
    split: str | None,
    load: Callable[[], SplitIncidence],
) -> dict[str, Any]:
    """Read the properties of a dataset's comparison: ``compared`` and ``compared_images``.

    Parameters
    ----------
    concepts : sequence of str or None
        Names; empty for the dataset's classes, None for what it is compared by already.
    split : str or None
        The images that count.
    load : callable
        Gives all images; called only where there are concepts to look for.

    Raises
    ------
    StaleError
        No image shows a concept any more that the dataset is compared by already.
    UnknownNameError, DataError
        No image shows one that is named; the images are elsewhere.
    """
    names = [*state.compared] if concepts is None else [clean_name(name) for name in concepts]
    if not names:
        return {"compared": None, "compared_images": None}

    incidence = load().of_split(split)
    gone = sorted(set(names) - set(incidence.concepts))
    if gone and concepts is None:
        raise StaleError(
            f"No image of {state.name!r} shows {gone[0]!r} any more, which it is compared by. To "
            "compare its classes, ",
            Action("mine", state.name, classes=()),
            ".",
        )
    check_known("concept", names, incidence.concepts)

    code = incidence.concepts.index(names[0])
    return {"compared": names, "compared_images": int((incidence.indices == code).sum())}


@lru_cache(maxsize=2)
def _read_compared(store: GraphStore, state: DatasetState) -> dict[str, Cliques]:
    """Count the cliques with and without each concept that a dataset is compared by.

    All are counted in one run of the kernel, with the images' clusters.
    """
    options = state.mining_options()
    incidence = load_images(store, state).of_split(options.split)
    sizes = {"max_size": options.max_size, "min_support": options.min_support}
    counted = mine_one_against_rest(incidence, state.compared, **sizes)
    return {
        name: with_clusters(counted.of(name), label_by(incidence, name)) for name in state.compared
    }


@lru_cache(maxsize=2)
def read_compared_table(store: GraphStore, state: DatasetState) -> pd.DataFrame:
    """The imbalance table of the concept that a dataset is compared by, not to be changed."""
    return imbalance_table(read_cliques(store, state), confidence=state.mining_options().confidence)


def count_leaning(store: GraphStore, state: DatasetState) -> dict[str, int]:
    """Count the combinations that lean, with a q-value of at most 0.05, for each compared concept.

    Empty for a dataset that is compared by its classes.
    """
    if not state.compared:
        return {}
    return {
        name: int(imbalance_table(cliques)["leans"].sum())
        for name, cliques in _read_compared(store, state).items()
    }
