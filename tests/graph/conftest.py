"""Load a dataset, mine it, and ask it a saved query."""

from collections.abc import Callable

import pytest

from cobalance.base.records import Annotations
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database.store import GraphStore, Row
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.queries.binding import bind_named


@pytest.fixture
def load(store: GraphStore, dataset: str) -> Callable[..., str]:
    """Write annotations into the test's dataset, and mine it where options are given."""

    def write(annotations: Annotations, options: MiningOptions | None = None) -> str:
        write_annotations(store, dataset, annotations, source="a test")
        if options is not None:
            mine_dataset(store, dataset, options, max_cliques=10**6)
        return dataset

    return write


@pytest.fixture
def ask(store: GraphStore, dataset: str) -> Callable[..., list[Row]]:
    """Run a saved query on the test's dataset."""

    def run(name: str, **parameters: object) -> list[Row]:
        query, bound = bind_named(store, name, {"dataset": dataset, **parameters})
        return store.read(query.text, **bound)

    return run
