"""Loading a dataset and mining it, for every test that reads what is then there."""

from collections.abc import Callable

import pytest

from graph.database.store import GraphStore
from graph.dataset.mining import MiningOptions, mine_dataset
from graph.dataset.write import write_annotations
from graph.records import Annotations


@pytest.fixture
def load(store: GraphStore, dataset: str) -> Callable[..., str]:
    """Write annotations into the test's dataset, and mine it where options are given."""

    def write(annotations: Annotations, options: MiningOptions | None = None) -> str:
        write_annotations(store, dataset, annotations, source="a test")
        if options is not None:
            mine_dataset(store, dataset, options, max_cliques=10**6)
        return dataset

    return write
