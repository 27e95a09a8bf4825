"""Two processes on one dataset: the later wins, the earlier is told, and nothing false is shown."""

import pytest

from cobalance.base.errors import ConstraintViolatedError, StaleError, StoreError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.drop_rename import drop_dataset, rename_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.state import dataset_state, find_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.queries.imbalances import Ranking, read_imbalances


def records(prefix, n, concept, class_names=("a", "b")):
    return Annotations.from_records(
        ImageRecord(f"{prefix}{i}", class_names[i % 2], (Mention("x"), Mention(concept)))
        for i in range(n)
    )


def once_at(stage_wanted, work):
    """A progress callback that lets another process act once, when a stage is reported."""
    acted = []

    def report(stage, done, total):
        if stage == stage_wanted and not acted:
            acted.append(True)
            work()

    return report


def write(store, dataset, annotations, **options):
    return write_annotations(store, dataset, annotations, source="a test", **options)


def test_an_ingest_inside_another(store, dataset, dump):
    first, second = records("a", 2500, "y"), records("b", 40, "z")
    with pytest.raises(StoreError, match="Another process"):
        write(
            store,
            dataset,
            first,
            progress=once_at("write images", lambda: write(store, dataset, second)),
        )
    write(store, dataset, first)
    dataset_state(store, dataset).require_complete()
    both = dump(dataset)
    drop_dataset(store, dataset)
    write(store, dataset, second)
    write(store, dataset, first)
    assert dump(dataset) == both


def test_mining_inside_mining(store, dataset, random_annotations):
    write(store, dataset, random_annotations(400, n_concepts=25))

    def mine(size, **options):
        mine_dataset(store, dataset, MiningOptions(size), max_cliques=10**6, **options)

    # Of batches at once, the first writer's may come in between; either is told of the other.
    with pytest.raises(StoreError, match=r"(?i)another process"):
        mine(4, progress=once_at("write cliques", lambda: mine(1)))
    mine(2)
    assert load_cliques(store, dataset).members.shape[1] == 2
    assert set(load_cliques(store, dataset).sizes()) == {1, 2}


def test_a_drop_inside_an_ingest(store, dataset):
    with pytest.raises(StoreError):
        write(
            store,
            dataset,
            records("a", 20, "y"),
            progress=once_at("co-occurrence", lambda: drop_dataset(store, dataset)),
        )
    assert find_dataset(store, dataset) is None


class StopError(Exception):
    pass


def test_a_half_renamed_dataset_keeps_both_names(store, dataset):
    write(store, dataset, records("a", 30, "y"))
    new = f"{dataset} renamed"

    def stop_behind_images(stage, done, total):
        if done == 8:
            raise StopError

    with pytest.raises(StopError):
        rename_dataset(store, dataset, new, stop_behind_images)
    with pytest.raises(StaleError, match="rename"):
        write(store, new, records("b", 3, "y"))
    drop_dataset(store, dataset)
    assert store.read("MATCH (n {dataset: $d}) RETURN count(n) AS n", d=new) == [{"n": 0}]


def test_a_renamed_class_is_mined_again(store, dataset):
    write(store, dataset, records("a", 8, "y"))
    mine_dataset(store, dataset, MiningOptions(), max_cliques=1000)
    write(store, dataset, records("a", 8, "y", ("a", "c")))
    mine_dataset(store, dataset, MiningOptions(), max_cliques=1000)
    frame = read_imbalances(store, dataset, Ranking())
    assert frame["count_c"].tolist() == [4, 4, 4]
    assert load_cliques(store, dataset).classes == ("a", "c")


def test_away_and_back_is_not_taken_for_unchanged(store, dataset, dump):
    there, away = records("a", 8, "y"), records("a", 8, "z")
    write(store, dataset, there)
    mine_dataset(store, dataset, MiningOptions(), max_cliques=1000)
    before = dump(dataset)
    write(store, dataset, away, if_exists="replace")
    write(store, dataset, there, if_exists="replace")
    with pytest.raises(StaleError, match="has changed since it was mined"):
        read_imbalances(store, dataset, Ranking())
    mine_dataset(store, dataset, MiningOptions(), max_cliques=1000)
    assert dump(dataset) == before
    assert len(read_imbalances(store, dataset, Ranking(concepts=("y",)))) == 2


def test_an_id_twice_is_no_other_writer(store, dataset):
    twice = Annotations.from_records([ImageRecord("same", "y"), ImageRecord("same", "z")])
    with pytest.raises(ConstraintViolatedError, match="already exists with label `Image`"):
        write(store, dataset, twice)
