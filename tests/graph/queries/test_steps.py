"""Counts at the steps of rebalancing are those of the images themselves."""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs import statements
from cobalance.graph.jobs.candidates import record_made
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.queries.overview import Overview, read_overview
from cobalance.graph.queries.steps import read_steps, with_images
from cobalance.statistics.imbalance import COUNT
from tests.graph.jobs.reporting import accepted

CLASSES = ("a", "b", "c")
CONCEPTS = ("w", "x", "y", "z")

rows = st.lists(
    st.tuples(
        st.sampled_from([*CLASSES, "unknown"]),
        st.lists(st.sampled_from([*CONCEPTS, "new"]), max_size=4, unique=True),
        st.integers(0, 5),
    ),
    max_size=12,
)


def overview_of(images):
    """An overview counted image by image."""
    held = [row for row in images if row[0] in CLASSES]
    singles, pairs = Counter(), Counter()
    sizes = dict.fromkeys(CLASSES, 0)
    for name, concepts, n in held:
        sizes[name] += n
        for concept in concepts:
            singles[concept, name] += n
        for pair in combinations(sorted(concepts), 2):
            pairs[pair, name] += n

    def frame(keys, columns, counts):
        table = pd.DataFrame(keys, columns=columns)
        per_class = {
            COUNT + name: [counts[key if len(columns) > 1 else key[0], name] for key in keys]
            for name in CLASSES
        }
        table["images"] = np.sum([*per_class.values()], axis=0, dtype=np.int64)
        return table.assign(**{k: np.array(v, dtype=np.int64) for k, v in per_class.items()})

    return Overview(
        class_sizes=sizes,
        pair_class_sizes=dict(sizes),
        concepts=frame([(name,) for name in CONCEPTS], ["concept"], singles),
        edges=frame([*combinations(CONCEPTS, 2)], ["concept_1", "concept_2"], pairs),
        hidden_concepts=0,
    )


@given(rows, rows)
def test_more_images_count_as_if_they_had_been_there(images, added):
    before = overview_of(images)
    copies = before.concepts.copy(), before.edges.copy(), dict(before.class_sizes)
    found, expected = with_images(before, added), overview_of([*images, *added])
    pd.testing.assert_frame_equal(found.concepts, expected.concepts)
    pd.testing.assert_frame_equal(found.edges, expected.edges)
    assert found.class_sizes == found.pair_class_sizes == expected.class_sizes
    pd.testing.assert_frame_equal(before.concepts, copies[0])  # the first is left as it was
    pd.testing.assert_frame_equal(before.edges, copies[1])
    assert before.class_sizes == copies[2]


def test_pairs_that_were_not_counted_stay_so():
    before = overview_of([("a", ["x", "y"], 3)])
    edges = before.edges.assign(**{COUNT + name: np.nan for name in CLASSES})
    found = with_images(replace(before, edges=edges), [("b", ["x", "y"], 2)])
    assert found.edges[[COUNT + name for name in CLASSES]].isna().all(axis=None)
    assert found.edges["images"].max() == 5


@pytest.fixture
def copy(store, dataset):
    """The name of a dataset that the job on the first made."""
    yield f"{dataset} made"
    drop_dataset(store, f"{dataset} made")


def test_the_steps_of_a_dataset_its_job_and_what_it_made(store, load, dataset, copy):
    def images(*groups):
        return Annotations.from_records(
            ImageRecord(f"{name}{names}{i}", name, tuple(Mention(c) for c in names))
            for name, names, n in groups
            for i in range(n)
        )

    groups = [("a", ("x", "y"), 6), ("a", ("z",), 2), ("b", ("x",), 1), ("b", ("z", "y"), 2)]
    load(images(*groups), MiningOptions(max_size=2))
    first = read_overview(store, dataset)

    def steps(after=None):
        read = read_steps(store, dataset, first, after)
        return {step.id: step.overview for step in read}

    assert [*steps()] == ["dataset"]
    job = create_job(store, dataset, "p", [("b", ("x", "y"), 5), ("a", ("z",), 1)])
    assert [*steps()] == ["dataset", "plan"]
    query = query_id(job, 0)
    record_made(store, job, {query: [accepted(query, i) for i in range(2)]})
    store.write(statements.CLAIM_COPY, into=copy, job=job)
    # What it holds differs from what was accepted, and lacks z.
    made = images(groups[0], groups[2], ("b", ("x", "y"), 9))
    write_annotations(store, copy, made, source="")
    mine_dataset(store, copy, MiningOptions(max_size=2), max_cliques=100)
    found = steps(copy)
    assert [*found] == ["dataset", "plan", "accepted", "after"]

    def counts(overview, concept):
        row = overview.concepts.set_index("concept").loc[concept]
        return [row[COUNT + name] for name in ("a", "b")]

    assert [counts(one, "x") for one in found.values()] == [[6, 1], [6, 6], [6, 3], [6, 10]]
    assert [counts(one, "z") for one in found.values()][:3] == [[2, 2], [3, 2], [2, 2]]
    assert np.isnan(counts(found["after"], "z")).all()
    assert [one.class_sizes for one in found.values()] == [
        {"a": 8, "b": 3},
        {"a": 9, "b": 8},
        {"a": 8, "b": 5},
        {"a": 6, "b": 10},
    ]
    for one in found.values():
        assert one.concepts["concept"].tolist() == first.concepts["concept"].tolist()
        assert one.edges["concept_2"].tolist() == first.edges["concept_2"].tolist()
    back = read_steps(store, copy, read_overview(store, copy), dataset)
    assert [step.id for step in back] == ["dataset", "after"]  # no job on the copy made it
