"""Read mining results: options, totals, and all cliques with their counts."""

from dataclasses import dataclass, replace

import numpy as np

from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.clique_table import read_clique_table
from cobalance.graph.dataset.mining_options import MiningOptions
from cobalance.graph.dataset.state import DatasetState, dataset_state
from cobalance.graph.errors import Action, OptionError


@dataclass(frozen=True)
class CliqueTotals:
    """Numbers of cliques: those of one concept, all, and those with a gap above 0.

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
    dataset_state(store, dataset).require_mined()
    (row,) = store.read(statements.CLIQUE_TOTALS, dataset=dataset)
    return CliqueTotals(**row)


def mined_with(store: GraphStore, dataset: str) -> MiningOptions:
    """Read the options of the dataset's mining; StaleError if it is not mined or has changed."""
    return mining_of(dataset_state(store, dataset))


def mining_of(state: DatasetState) -> MiningOptions:
    """Return the mining options in a dataset's state; StaleError as from `require_mined`."""
    state.require_mined()
    return state.mining_options()


def load_cliques(store: GraphStore, dataset: str, *, max_size: int | None = None) -> Cliques:
    """Read the mined cliques back with their counts, in the kernel's order.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    OptionError
        It was mined to a smaller size than `max_size`.
    """
    state = dataset_state(store, dataset)
    options = mining_of(state)
    if max_size is not None and max_size > options.max_size:
        raise OptionError(
            f"{dataset!r} was mined up to size {options.max_size}, not {max_size}. ",
            Action("mine", dataset, max_size=max_size),
            ".",
        )
    cliques = read_clique_table(store, state, options.max_size)
    if max_size is None:
        return cliques
    kept = np.searchsorted(cliques.sizes(), max_size, side="right")  # they are in order of size
    small = cliques.take(slice(kept))
    return replace(small, members=small.members[:, :max_size])
