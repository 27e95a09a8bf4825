"""Mentions of a model come and go, and leave the dataset's own as they were."""

import numpy as np
import pandas as pd

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.dataset.mentions import replace_mentions
from cobalance.graph.dataset.write import write_annotations

RECORDS = [
    ImageRecord("a", "bird", (Mention("sky"), Mention("sky", "old", 0.5)), "train", "a.jpg", 4, 3),
    ImageRecord("b", "bird", (Mention("tree", "old", 0.7),)),
    ImageRecord("c", "fish", (Mention("sea", "old", 0.2), Mention("sea", "old", 0.4))),
    ImageRecord("d", "fish"),
]


def found(*rows):
    return pd.DataFrame(rows, columns=["image", "concept", "source", "score"])


def contains(store, dataset):
    rows = store.read(
        "MATCH (i:Image {dataset: $d})-[e:CONTAINS]->(c) "
        "RETURN i.id AS id, c.name AS name, e.source AS source, e.score AS score",
        d=dataset,
    )
    return {(row["id"], row["name"]): (row["source"], row["score"]) for row in rows}


def test_mentions_are_added_replaced_and_removed(store, dataset, dump_of):
    write_annotations(store, dataset, Annotations.from_records(RECORDS), source="a test")
    before, edges = dump_of(store, dataset), contains(store, dataset)
    first = found(
        ("d", "sea", "m", 0.9),
        ("d", "o'hare {x}", "m", np.nan),
        ("a", "sky", "m", 0.9),  # annotated already
        ("b", "sky", "n", 0.3),
        ("nowhere", "sky", "m", 0.9),
    )
    report = replace_mentions(store, dataset, ["m", "n"], first)
    assert (report.updated, report.created, report.deleted) == (2, 0, 0)
    assert contains(store, dataset) == edges | {
        ("d", "sea"): ("m", 0.9),
        ("d", "o'hare {x}"): ("m", None),
        ("b", "sky"): ("n", 0.3),
    }
    again = replace_mentions(store, dataset, ["m", "n"], first)
    assert again.updated == 0
    replace_mentions(store, dataset, ["m"], found(("c", "sky", "m", 0.1)))
    assert contains(store, dataset) == edges | {
        ("c", "sky"): ("m", 0.1),
        ("b", "sky"): ("n", 0.3),
    }
    replace_mentions(store, dataset, ["m", "n"], found())
    assert contains(store, dataset) == edges
    names = {
        row["name"]
        for row in store.read("MATCH (c:Concept {dataset: $d}) RETURN c.name AS name", d=dataset)
    }
    assert names == {"sky", "tree", "sea"}
    write_annotations(store, dataset, Annotations.from_records(RECORDS), source="a test")
    assert dump_of(store, dataset) == before
