"""A graph with a sample of the images says what a graph with all of them says."""

import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import ConflictError, DataError, OptionError, StaleError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import incidence_of
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.names import class_sizes, split_sizes
from cobalance.graph.dataset.plans import read_plan
from cobalance.graph.dataset.read import load_incidence, read_annotations
from cobalance.graph.dataset.sampled import dry_run_sampled, write_sampled
from cobalance.graph.dataset.state import Sample, dataset_state, find_dataset
from cobalance.graph.dataset.write import IngestReport, dry_run, write_annotations
from cobalance.graph.queries.binding import bind_named
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.graph.queries.clique_images import read_clique_images
from cobalance.graph.queries.comparison import compare_dataset_splits
from cobalance.graph.queries.imbalances import Ranking, read_imbalances
from cobalance.graph.queries.overview import read_overview
from cobalance.workflows.plan.planners import plan_dataset

OPTIONS = MiningOptions(max_size=3)
PER_CLASS = 3
EVERY = Ranking(limit=10**6)


@pytest.fixture
def both(store, load, dataset, random_annotations):
    """The same images, all of them and sampled, each mined."""
    annotations = random_annotations(200, seed=4)
    load(annotations, OPTIONS)
    sampled = f"{dataset} sampled"
    write_sampled(store, sampled, annotations, Sample(PER_CLASS), source="a test")
    mine_dataset(store, sampled, OPTIONS, max_cliques=10**6)
    yield dataset, sampled, annotations
    drop_dataset(store, sampled)


def test_counts_and_answers_are_equal(store, both):
    whole, sampled, _ = both
    assert class_sizes(store, sampled) == class_sizes(store, whole)
    assert split_sizes(store, sampled) == split_sizes(store, whole)
    pd.testing.assert_frame_equal(
        read_imbalances(store, sampled, EVERY), read_imbalances(store, whole, EVERY)
    )
    ours, theirs = (read_overview(store, name) for name in (sampled, whole))
    pd.testing.assert_frame_equal(ours.concepts, theirs.concepts)
    pd.testing.assert_frame_equal(ours.edges, theirs.edges)
    one, other = (load_incidence(store, name) for name in (sampled, whole))
    assert np.array_equal(one.class_concept_counts(), other.class_concept_counts())


def test_each_saved_query_answers_alike_or_refuses(store, both, ask_both):
    whole, sampled, annotations = both
    concepts = sorted(annotations.mentions["concept"].unique())
    given = {
        "concept": concepts[0],
        "concepts": concepts[:2],
        "class": class_sizes(store, whole).popitem()[0],
    }
    compared = refused = 0
    for name, query in CATALOGUE.items():
        needed = {key: given[key] for key in query.parameters if key in given}
        if set(query.parameters) - set(given) - {"dataset"} and not _bindable(query, needed):
            continue
        if query.counts_images:
            with pytest.raises(DataError, match="keeps a sample"):
                ask_both(name, sampled, needed)
            refused += 1
        elif name != "images-of-clique":
            assert ask_both(name, sampled, needed) == ask_both(name, whole, needed), name
            compared += 1
    assert refused >= 8
    assert compared >= 15


@pytest.fixture
def ask_both(store):
    def run(name, dataset, parameters):
        query, bound = bind_named(store, name, {"dataset": dataset, **parameters})
        return store.read(query.text, **bound)

    return run


def _bindable(query, given):
    try:
        query.bind({"dataset": "any", **given})
    except OptionError:
        return False
    return True


def test_each_clique_has_its_images(store, both):
    _, sampled, annotations = both
    cliques = mine_cliques(incidence_of(annotations), max_size=3)
    mentions = annotations.mentions
    shown = mentions.groupby("image")["concept"].agg(set).reindex(range(len(annotations.images)))
    ids, labels = (annotations.images[name].tolist() for name in ("id", "class_name"))
    kept = set()
    for names, counts in zip(cliques.names(), cliques.counts.tolist(), strict=True):
        for class_name, count in zip(cliques.classes, counts, strict=True):
            found = read_clique_images(store, sampled, names, class_name, limit=1000)["id"].tolist()
            having = {
                image
                for image, label, held in zip(ids, labels, shown, strict=True)
                if label == class_name and isinstance(held, set) and held.issuperset(names)
            }
            assert set(found) <= having
            assert len(found) >= min(PER_CLASS, count)
            kept.update(found)
    (row,) = store.read(
        "MATCH (i:Image {dataset: $dataset}) RETURN collect(i.id) AS ids", dataset=sampled
    )
    assert kept == set(row["ids"])
    assert len(kept) < len(ids)


def test_mining_again_keeps_the_images_of_the_new_cliques(store, both):
    _, sampled, annotations = both
    mine_dataset(store, sampled, MiningOptions(max_size=1), max_cliques=10**6)
    count = "MATCH (i:Image {dataset: $dataset}) RETURN count(i) AS n"
    assert store.read(count, dataset=sampled)[0]["n"] < len(annotations.images) / 2
    split = next(iter(split_sizes(store, sampled)))
    mine_dataset(store, sampled, MiningOptions(max_size=2, split=split), max_cliques=10**6)
    splits = "MATCH (i:Image {dataset: $dataset}) RETURN collect(DISTINCT i.split) AS s"
    assert store.read(splits, dataset=sampled)[0]["s"] == [split]


def test_splits_are_compared(store, both):
    whole, sampled, _ = both
    names = [name for name in split_sizes(store, whole) if name is not None][:2]
    found, expected = (compare_dataset_splits(store, name, *names) for name in (sampled, whole))
    pd.testing.assert_frame_equal(found.cliques, expected.cliques)


def test_what_takes_all_images_is_refused(store, both):
    whole, sampled, annotations = both
    with pytest.raises(DataError, match="keeps a sample of them: 3 of each"):
        read_annotations(store, sampled)
    with pytest.raises(ConflictError, match="keeps a sample"):
        write_annotations(store, sampled, annotations, source="a test")
    with pytest.raises(ConflictError, match="has all images"):
        write_sampled(store, whole, annotations, Sample(), source="a test", if_exists="replace")


def test_loading_again(store, both, random_annotations):
    _, sampled, annotations = both
    again = write_sampled(store, sampled, annotations, Sample(PER_CLASS), source="a test")
    assert (again.created, again.unchanged) == (0, 200)
    assert dataset_state(store, sampled).is_mined
    others = random_annotations(150, seed=5)
    with pytest.raises(ConflictError, match="holds 200 other images"):
        write_sampled(store, sampled, others, Sample(PER_CLASS), source="a test")
    report = write_sampled(
        store, sampled, others, Sample(PER_CLASS, seed=1), source="a test", if_exists="replace"
    )
    assert (report.created, report.deleted) == (150, 200)
    mine_dataset(store, sampled, OPTIONS, max_cliques=10**6)
    expected = mine_cliques(incidence_of(others), max_size=3)
    assert len(read_imbalances(store, sampled, EVERY)) == len(expected)
    assert class_sizes(store, sampled) == dict(
        sorted(others.images["class_name"].value_counts().items())
    )


def test_a_dry_run_says_what_a_load_would_do(store, dataset, random_annotations):
    some, others = random_annotations(40, seed=1), random_annotations(50, seed=2)
    assert dry_run_sampled(store, dataset, some).created == 40
    assert find_dataset(store, dataset) is None
    write_sampled(store, dataset, some, Sample(), source="a test")
    assert dry_run_sampled(store, dataset, some) == IngestReport(0, 0, 0, 40, 0)
    with pytest.raises(ConflictError):
        dry_run_sampled(store, dataset, others)
    replaced = dry_run_sampled(store, dataset, others, if_exists="replace")
    assert replaced == IngestReport(50, 0, 40, 0, 0)
    with pytest.raises(ConflictError, match="keeps a sample"):
        dry_run(store, dataset, others, source="a test")
    drop_dataset(store, dataset)
    write_annotations(store, dataset, some, source="a test")
    with pytest.raises(ConflictError, match="has all images"):
        dry_run_sampled(store, dataset, some)


def test_labels_that_moved_are_counted_and_a_plan_outlives_a_class_that_comes_back(store, dataset):
    def load(images):
        annotations = Annotations.from_records(
            ImageRecord(f"{at}", class_name, tuple(map(Mention, concepts)))
            for at, (class_name, concepts) in enumerate(images)
        )
        write_sampled(
            *(store, dataset, annotations, Sample(PER_CLASS)), source="x", if_exists="replace"
        )
        if len({class_name for class_name, _ in images}) > 1:
            mine_dataset(store, dataset, OPTIONS, max_cliques=1000)

    def cow():
        cliques = load_cliques(store, dataset)
        return cliques.counts[cliques.names().index(("cow",))].tolist()

    first = [("farm", ["cow", "road"])] * 4 + [("town", ["cow"])] * 2 + [("town", ["road"])] * 2
    load(first)
    assert cow() == [4, 2]
    plan_dataset(store, dataset, "conbias", PlanOptions(1))
    queries = read_plan(store, dataset, "conbias")
    assert queries

    # Two labels move from a farm to towns, so that each concept is in as many images as before.
    moved = [("farm", ["road"]), ("farm", ["road"]), *first[2:6], *[("town", ["cow", "road"])] * 2]
    load(moved)
    assert cow() == [2, 4]
    with pytest.raises(StaleError):
        read_plan(store, dataset, "conbias")

    load([("farm", concepts) for _, concepts in first])
    load(first)
    assert cow() == [4, 2]
    assert read_plan(store, dataset, "conbias") == queries
