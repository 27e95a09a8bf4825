"""Labelled images of datasets know what they were made from, and what changed."""

import pandas as pd
import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.evaluation.training.data.examples import code_examples
from cobalance.evaluation.training.data.sets import LeakError, check_apart, training_set
from cobalance.graph.database import schema
from cobalance.graph.database.statements import merge_edges_statement
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.workflows.evaluate.dataset_images import read_dataset_images
from tests.evaluation.training.images import png


def test_images_of_the_graph_know_what_they_were_made_from(store, dataset):
    made, anew = "generated/j/0/0", "generated/j/0/1"
    records = [
        ImageRecord("a", "cat", (Mention("sofa"), Mention("sofa")), "train", "a.png"),
        ImageRecord("t", "dog", (), "test", "t.png"),
        ImageRecord(made, "dog", (Mention("sofa"),), "train", "made.png", synthetic=True),
        ImageRecord(anew, "dog", (), "train", "anew.png", synthetic=True),
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    edge = merge_edges_statement(schema.DERIVED_FROM)
    store.write(edge, dataset=dataset, rows=[[made, "a"]])
    # Of a source that the dataset does not have, the candidate alone knows.
    store.write(
        "CREATE (:Candidate {id: 'j/0/1', source_image: 'gone', dataset: $name})", name=dataset
    )
    images = read_dataset_images(store, dataset, lambda uri, synthetic: png(f"{uri}{synthetic}"))
    store.write("MATCH (c:Candidate {dataset: $name}) DETACH DELETE c", name=dataset)
    found = images.frame.set_index("image")
    assert found["source"].dropna().to_dict() == {made: "a", anew: "gone"}
    assert found.loc["a", ["class_name", "split", "uri", "concepts"]].tolist() == [
        *("cat", "train", "a.png"),
        ["sofa"],
    ]
    assert found["synthetic"].to_dict() == {"a": False, "t": False, made: True, anew: True}
    train, test = images.of_split("train"), images.of_split("test")
    check_apart(train, test)
    assert training_set(train, "real").frame["image"].tolist() == ["a"]
    store.write(edge, dataset=dataset, rows=[[anew, "t"]])
    again = read_dataset_images(store, dataset, lambda uri, synthetic: b"")
    with pytest.raises(LeakError, match=f"made from test images: {anew} from t"):
        check_apart(again.of_split("train"), test)
    (pixels,) = code_examples({"all": images})["all"].read(
        pd.Index(images.frame["image"]).get_indexer([made])
    )
    assert pixels[0, 0, 0] == len("made.pngTrue")


def test_edited_images_know_whether_their_group_changed(store, dataset):
    """Also where the images that were edited gave way: the job's dataset has them."""
    original = f"{dataset} original"
    real = [ImageRecord("w", "woman"), ImageRecord("m", "man")]
    made = [("0/0", "w", "woman"), ("1/0", "w", "man"), ("2/0", "m", "man"), ("3/0", "m", "woman")]
    records = [
        ImageRecord(f"generated/{dataset}/{id_}", group, synthetic=True) for id_, _, group in made
    ]
    other = ImageRecord(f"generated/{dataset}/4/0", "man", synthetic=True)
    write_annotations(store, original, Annotations.from_records(real), source="a test")
    everything = Annotations.from_records([*records, other])
    write_annotations(store, dataset, everything, source="a test")
    store.write(
        """
CREATE (:Job {id: $name, dataset: $original})
CREATE (:Candidate {id: $name + '/4/0', query: $name + '/4'}), (:JobQuery {id: $name + '/4'})
WITH 1 AS one UNWIND $made AS row
CREATE (:JobQuery {id: $name + '/' + row[0], job: $name, source_image: row[1],
  own_group: CASE row[0] WHEN '0/0' THEN 'woman' END})
CREATE (:Candidate {id: $name + '/' + row[0], query: $name + '/' + row[0], source_image: row[1]})
""",
        name=dataset,
        original=original,
        made=[list(row) for row in made],
    )
    try:
        images = read_dataset_images(store, dataset, lambda uri, synthetic: b"")
    finally:
        store.write(
            "MATCH (n) WHERE (n:Job OR n:JobQuery OR n:Candidate) AND n.id STARTS WITH $name "
            "DETACH DELETE n",
            name=dataset,
        )
        drop_dataset(store, original)
    kept = {
        name: [image.removeprefix(f"generated/{dataset}/") for image in chosen.frame["image"]]
        for name in ("c8", "c9", "c10")
        for chosen in [training_set(images, name)]
    }
    assert kept == {
        "c8": ["0/0", "1/0", "2/0", "3/0"],
        "c9": ["1/0", "3/0"],
        "c10": ["0/0", "2/0"],
    }
