"""Mine a dataset's cliques, measure their imbalance, and store them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd

from cobalance.base import IntArray, Progress, UnknownNameError, inflect, plain_values, silent
from cobalance.counting import Cliques, MiningOptions, count_changed, mine_cliques, update_mined
from cobalance.graph.database import Claim, GraphStore, schema
from cobalance.graph.database.statements import UPDATE_DATASET
from cobalance.graph.database.sync import Change, NodeRow, apply_change, compare, read_digests
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.cliques import (
    has_clique_table,
    read_comparison,
    read_former,
    write_clique_table,
)
from cobalance.graph.dataset.incidence_table import SplitIncidence
from cobalance.graph.dataset.names import class_sizes
from cobalance.graph.dataset.read import load_images
from cobalance.graph.dataset.sampled import choose_sample, sync_sample
from cobalance.graph.dataset.state import DatasetState, Sample, dataset_state
from cobalance.statistics import imbalance_table, with_clusters

_STATISTICS = [name for name in schema.CLIQUE.property_names if name != "digest"]


@dataclass(frozen=True)
class MiningReport:
    """Cliques that mining found, and changes in the store.

    Parameters
    ----------
    by_size : dict of int to int
        Cliques of each size.
    left_out : int
        Concepts that are not common to the classes.
    without_images : tuple of str
        Classes of the dataset that have no image in the split, and were not compared.
    leaning, unproven : int
        Cliques with a q-value of at most 0.05; of the others, those with a gap.
    created, updated, deleted, unchanged : int
        Cliques in the store.
    images : int
        Images that were mined.
    changed : int or None
        Images that have changed, come or gone since the cliques were mined last, where those alone
        were counted; None where all were.
    """

    by_size: dict[int, int]
    left_out: int
    without_images: tuple[str, ...]
    leaning: int
    unproven: int
    created: int
    updated: int
    deleted: int
    unchanged: int
    images: int
    changed: int | None

    def describe(self) -> str:
        """Say how many images were counted."""
        if self.changed is None:
            return f"Counted {inflect(self.images, 'images')}."
        return f"Counted {inflect(self.changed, 'changed images')} of {self.images:,}."


class Counted(NamedTuple):
    """Cliques, number of concepts that are not common to the classes, `MiningReport.changed`."""

    cliques: Cliques
    left_out: int
    changed: int | None = None


class CountedImages(Protocol):
    """All images of a dataset, wherever they are."""

    def load(self, store: GraphStore, state: DatasetState) -> SplitIncidence:
        """All of them in memory."""

    def count(self, options: MiningOptions, max_cliques: int) -> Counted:
        """Count the cliques."""

    def sample(self, cliques: Cliques, sample: Sample, split: str | None) -> SplitIncidence:
        """The images that the graph keeps, with their ids and files."""


@dataclass(frozen=True, eq=False)
class HeldImages:
    """Images in memory, with earlier cliques that may be updated instead of counting anew."""

    images: SplitIncidence
    former: tuple[Cliques, SplitIncidence] | None = None

    @classmethod
    def read(
        cls,
        store: GraphStore,
        state: DatasetState,
        options: MiningOptions,
        *,
        since: str | None = None,
        progress: Progress = silent,
    ) -> "HeldImages":
        """Read the images of a dataset, and cliques that `mine_dataset` can follow."""
        progress("read images", 0, None)
        images = load_images(store, state)
        former = None

        # To mine the same images again is to count them all again.
        if state.cliques_digest != state.digest:
            former = read_former(store, state.name, options)
            if former is None and since is not None:
                former = read_former(store, since, options)
        return cls(images, former)

    def load(self, store: GraphStore, state: DatasetState) -> SplitIncidence:
        """The images, which are in memory."""
        del store, state
        return self.images

    def count(self, options: MiningOptions, max_cliques: int) -> Counted:
        """Count with the kernel, only images that changed where that tells."""
        images = self.images.take(self.images.in_split(options.split))
        incidence = images.of_split(None)
        if options.split is not None and not len(incidence.labels):
            raise UnknownNameError("split", options.split, sorted(self.images.split_names))

        counting: Any = {
            "max_size": options.max_size,
            "min_support": options.min_support,
            "common": options.common,
            "max_cliques": max_cliques,
        }
        update = changed = None
        if self.former is not None:
            mined, before = self.former
            update = update_mined(mined, before.of_split(None), incidence, **counting)
        if update is None:
            cliques = mine_cliques(incidence, **counting)
        else:
            cliques, _ = update
            changed = count_changed(before.incidence, before.ids, images.incidence, images.ids)

        cliques = with_clusters(cliques, incidence)
        left_out = int((~incidence.concepts_of_all(options.common)).sum())
        return Counted(cliques, left_out, changed)

    def sample(self, cliques: Cliques, sample: Sample, split: str | None) -> SplitIncidence:
        """Choose among the images of the split."""
        return choose_sample(self.images.take(self.images.in_split(split)), cliques, sample)


def mine_dataset(
    store: GraphStore,
    dataset: str,
    options: MiningOptions,
    *,
    max_cliques: int,
    since: str | None = None,
    progress: Progress = silent,
) -> MiningReport:
    """Mine a dataset's cliques from the images in the graph; see `mine_images`.

    Where the dataset was mined with the same options before its images changed, only the images
    that changed are counted, as far as that gives what counting all gives, see
    `cobalance.counting.changes.update_mined`.

    Parameters
    ----------
    since : str or None
        A mined dataset that this one was copied from with some images more or fewer, whose cliques
        can be followed where this one was not mined yet.

    Raises
    ------
    StaleError
        An ingest of the dataset did not end.
    """
    state = dataset_state(store, dataset)
    state.require_complete()
    images = HeldImages.read(store, state, options, since=since, progress=progress)
    return mine_images(store, state, images, options, max_cliques=max_cliques, progress=progress)


def mine_images(
    store: GraphStore,
    state: DatasetState,
    images: CountedImages,
    options: MiningOptions,
    *,
    max_cliques: int,
    compared: Sequence[str] | None = None,
    progress: Progress = silent,
) -> MiningReport:
    """Mine a dataset's cliques, measure their imbalance, and update the stored cliques.

    Mining the same images with the same options again changes nothing. Interrupted, it leaves
    the dataset marked as not mined, and goes on when run again.

    Parameters
    ----------
    state : DatasetState
        Complete.
    images : CountedImages
        All images of the dataset.
    compared : sequence of str or None
        Concepts to compare by from now on, see `cobalance.graph.dataset.cliques.read_comparison`.

    Raises
    ------
    StaleError
        No image shows a concept that it is compared by.
    DataError, UnknownNameError
        The dataset has no image, or none of the split; or no such class.
    TooManyCliquesError
        There are more than `max_cliques`; nothing is written.
    """
    # Before anything is counted: a concept to compare by may be gone.
    load = partial(images.load, store, state)
    comparison = read_comparison(state, compared, options.split, load)

    progress("count cliques", 0, None)
    counted = images.count(options, max_cliques)
    cliques = counted.cliques

    progress("measure imbalances", 0, None)
    table = imbalance_table(cliques, confidence=options.confidence)
    totals = _total_properties(cliques, table)
    names, digests, rows_at = _rows_to_write(cliques, table)

    progress("compare", 0, None)
    dataset = state.name
    stored = read_digests(store, schema.CLIQUE, dataset)
    change = compare(stored, names, digests, delete=True)
    mining = options.to_json()
    mined_state = replace(state, cliques_digest=state.digest, mining=mining)
    is_stale = state.mined_as != mined_state.mined_as

    if change or is_stale or not has_clique_table(store, dataset, mined_state.mined_as):
        claim = Claim.take(store, dataset)
        # Interrupted from here on, the dataset is marked as not mined.
        values = {"cliques_digest": None, "mining": mining}
        store.write(UPDATE_DATASET, dataset=dataset, values=values)
        edges = (schema.HAS, schema.COUNTED_IN)
        apply_change(claim, schema.CLIQUE, edges, change, rows_at, "write cliques", progress)
        write_clique_table(claim, mined_state.mined_as, cliques)

        if state.sample is not None:
            progress("choose images", 0, None)
            chosen = images.sample(cliques, state.sample, options.split)
            sync_sample(claim, state.digest or 0, chosen, progress)

        claim.write(statements.DELETE_IMAGES_ASIDE)
        properties = {"cliques_digest": state.digest, **totals, **comparison}
        claim.finish(guards="cliques_digest", **properties)
        store.write(statements.LINK_QUERIES, dataset=dataset)
    else:
        store.write(UPDATE_DATASET, dataset=dataset, values=comparison)

    return _report(counted, change, totals, class_sizes(store, dataset))


def _report(
    counted: Counted, change: Change, totals: dict[str, Any], own_sizes: dict[str, int]
) -> MiningReport:
    """Report on a mining, of a dataset whose classes have these sizes."""
    cliques = counted.cliques
    sizes, counts = np.unique(cliques.sizes(), return_counts=True)
    return MiningReport(
        by_size=dict(zip(sizes.tolist(), counts.tolist(), strict=True)),
        left_out=counted.left_out,
        without_images=tuple(sorted(own_sizes.keys() - set(cliques.classes))),
        leaning=totals["leaning_cliques"],
        unproven=totals["unproven_cliques"],
        created=len(change.created),
        updated=len(change.updated),
        deleted=len(change.deleted),
        unchanged=change.unchanged,
        images=int(cliques.class_sizes.sum()),
        changed=counted.changed,
    )


def _total_properties(cliques: Cliques, table: pd.DataFrame) -> dict[str, Any]:
    """Properties of the dataset's node that count its mined images and cliques."""
    has_gap, leans = table["gap"] > 0, table["leans"]
    return {
        "mined_classes": list(cliques.classes),
        "mined_images": cliques.class_sizes.tolist(),
        "cliques": len(cliques),
        "single_cliques": int((cliques.sizes() == 1).sum()),
        "imbalanced_cliques": int(has_gap.sum()),
        "leaning_cliques": int(leans.sum()),
        "unproven_cliques": int((has_gap & ~leans).sum()),
    }


def _rows_to_write(
    cliques: Cliques, table: pd.DataFrame
) -> tuple[list[tuple[str, ...]], list[int], Callable[[IntArray], list[NodeRow]]]:
    """Names and digests of all cliques, and a function for the rows at some positions."""
    names, counts = cliques.names(), cliques.counts.tolist()
    content = table.filter(_STATISTICS).assign(names=[repr(clique) for clique in names])

    hashed = pd.util.hash_pandas_object(content, index=False).to_numpy()
    for class_counts in cliques.counts.T:
        hashed = hashed * np.uint64(0x9E3779B97F4A7C15) + class_counts.astype(np.uint64)
    digests = hashed.view(np.int64).tolist()

    missing = [None] * len(table)
    statistics = [plain_values(table[name]) if name in table else missing for name in _STATISTICS]

    def rows_at(positions: IntArray) -> list[NodeRow]:
        rows: list[NodeRow] = []
        for position in positions.tolist():
            name = names[position]
            properties = [digests[position], *(column[position] for column in statistics)]
            rows.append((name, properties, [[name], [cliques.classes, counts[position]]]))
        return rows

    return names, digests, rows_at
