"""How far a dataset is, of a store in which others are further."""

from dataclasses import asdict

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs import statements
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.queries.comparison import read_copies
from cobalance.graph.queries.progress import dataset_progress


def test_from_nothing_to_a_mined_copy(store, dataset):
    copy = f"{dataset} renamed"
    records = [ImageRecord(name, name, (Mention("x"),)) for name in "ab"]

    def reached(name=dataset):
        return {what for what, done in asdict(dataset_progress(store, name)).items() if done}

    def write(name):
        write_annotations(store, name, Annotations.from_records(records), source="a test")

    assert reached("no such dataset") == set()
    write(dataset)
    assert reached() == set()
    job = create_job(store, dataset, "p", [("a", ("x",), 3)])
    assert reached() == {"planned", "ordered", "making"}
    ended = "MATCH (j:Job {id: $job}) SET j.state = 'done', j.accepted = 2"
    store.write(ended, job=job)
    assert reached() == {"planned", "ordered", "made"}
    store.write(statements.CLAIM_COPY, into=copy, job=job)
    write(copy)
    assert reached() == {"planned", "ordered", "made"}
    assert reached(copy) == {"planned", "ordered", "made"}
    mine_dataset(store, copy, MiningOptions(max_size=1), max_cliques=10)
    assert reached() == reached(copy) == {"planned", "ordered", "made", "compared"}
    assert read_copies(store)[copy] == dataset
