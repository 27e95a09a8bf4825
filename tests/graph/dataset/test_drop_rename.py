"""Datasets dropped and renamed, also when interrupted."""

import pytest

from cobalance.base.errors import ConflictError, NotFoundError, StaleError
from cobalance.graph.dataset.drop_rename import drop_dataset, rename_dataset
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.dataset.write import write_annotations


def write(store, dataset, annotations, **options):
    return write_annotations(store, dataset, annotations, source="a test", **options)


class StopError(Exception):
    """Raised by a progress callback to break off in the middle."""


def test_drop_leaves_nothing_and_names_what_there_is(store, dataset, random_annotations):
    write(store, dataset, random_annotations(20))
    drop_dataset(store, dataset)
    assert store.read("MATCH (n {dataset: $d}) RETURN count(n) AS n", d=dataset) == [{"n": 0}]
    with pytest.raises(NotFoundError, match=r"Run `ingest\("):
        drop_dataset(store, dataset)


def test_rename_moves_everything_and_can_be_finished_later(
    store, dataset, random_annotations, dump
):
    annotations = random_annotations(50)
    write(store, dataset, annotations)
    before = dump(dataset)
    new = f"{dataset} renamed"

    def stop_at_images(stage, done, total):
        if done == 4:
            raise StopError

    with pytest.raises(StopError):
        rename_dataset(store, dataset, new, stop_at_images)
    with pytest.raises(StaleError, match="rename"):
        write(store, dataset, annotations)
    rename_dataset(store, dataset, new)
    assert find_dataset(store, dataset) is None
    assert dump(new) == before
    write(store, dataset, random_annotations(5))
    with pytest.raises(ConflictError):
        rename_dataset(store, dataset, new)
