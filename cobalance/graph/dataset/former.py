"""What was mined before a dataset's images changed, so that mining can follow the change."""

from dataclasses import replace

from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.counting.incidence import Incidence
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.clique_table import read_clique_table
from cobalance.graph.dataset.incidence_table import read_incidence_table
from cobalance.graph.dataset.mining_options import MiningOptions
from cobalance.graph.dataset.state import DatasetState
from cobalance.graph.errors import StaleError


def mined_digest(store: GraphStore, dataset: str) -> int | None:
    """The digest of the images that the packed cliques were mined from."""
    return _mined_as(store, dataset)[0]


def read_former(
    store: GraphStore, state: DatasetState, options: MiningOptions
) -> tuple[Cliques, Incidence] | None:
    """Read the cliques that were mined last, and the images that they were mined from.

    Returns
    -------
    Cliques, Incidence
        None unless both are complete and `options` would have counted the same.
    """
    digest, text = _mined_as(store, state.name)
    if (
        digest is None
        or replace(MiningOptions.from_json(text), confidence=options.confidence) != options
    ):
        return None
    images = read_incidence_table(store, replace(state, digest=digest))
    if images is None:
        return None
    before = images.of_split(options.split)
    sizes = tuple(zip(before.classes, before.class_sizes().tolist(), strict=True))
    then = replace(state, cliques_digest=digest, mining=text, mined_classes=sizes)
    try:
        return read_clique_table(store, then, options.max_size), before
    except StaleError:
        return None


def _mined_as(store: GraphStore, dataset: str) -> tuple[int | None, str]:
    """The digest of the images, and the options as JSON."""
    for row in store.read(statements.MINED_AS, dataset=dataset):
        digest, _, options = row["mined_as"].partition(" ")
        return int(digest), options
    return None, ""
