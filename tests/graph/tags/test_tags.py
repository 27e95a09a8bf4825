"""Tags and notes of images; counts after tagging equal those of the annotations by hand."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings as hypothesis_settings, strategies as st

from cobalance.base.errors import OptionError, UnknownNameError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.read import read_annotations
from cobalance.graph.dataset.state import dataset_state
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.tags.applying import apply_tags, pending_tags
from cobalance.graph.tags.tags import (
    delete_tag,
    images_of_tag,
    list_notes,
    list_tags,
    marks_of_images,
    set_role,
    tag_images,
    untag_images,
    write_note,
)
from tests.conftest import HOSTILE

RECORDS = [
    ImageRecord("a", "bird", (Mention("sky"), Mention("sky", "m", 0.5)), "train", "a.jpg", 4, 3),
    ImageRecord("b", "bird", (Mention("tree", "m", 0.7), Mention("sky"))),
    ImageRecord("c", "bird", (Mention("sea"),)),
    ImageRecord("d", "fish", (Mention("sky"), Mention("sea"))),
    ImageRecord("e", "fish", (Mention("sky"),)),
    ImageRecord("f", "fish"),
]
IDS = [record.id for record in RECORDS]


def load(store, dataset, records=RECORDS):
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")


def shows(store, dataset):
    """Class and concepts of each image in the counts."""
    return {
        record.id: (record.class_name, {mention.concept for mention in record.mentions})
        for record in read_annotations(store, dataset).records()
    }


def counted(images):
    """Support of each clique in each class, one image at a time."""
    found = Counter()
    for class_name, concepts in images.values():
        for size in (1, 2, 3, 4):
            for clique in combinations(sorted(concepts), size):
                found[clique, class_name] += 1
    return found


def mined(store, dataset):
    """The same, as mining stored it; a clique needs no class to be common to."""
    mine_dataset(store, dataset, MiningOptions(common=()), max_cliques=1000)
    cliques = load_cliques(store, dataset)
    return Counter(
        {
            (names, class_name): n
            for names, row in zip(cliques.names(), cliques.counts.tolist(), strict=True)
            for class_name, n in zip(cliques.classes, row, strict=True)
            if n
        }
    )


def test_tags_and_notes_are_kept_with_who_gave_them(store, dataset):
    load(store, dataset)
    for tag in HOSTILE[:4]:
        assert tag_images(store, dataset, tag, ["a", "b", "a"], by="ann") == 2
    assert untag_images(store, dataset, HOSTILE[0], ["a", "c"]) == 1
    write_note(store, dataset, "a", f" {HOSTILE[1]} ", by="bo")
    write_note(store, dataset, "b", "blurred", by="bo")
    write_note(store, dataset, "b", " ")
    tags = list_tags(store, dataset).set_index("tag")
    assert tags["images"].to_dict() == dict(zip(HOSTILE[:4], (1, 2, 2, 2), strict=True))
    assert set(tags["role"]) == {"tag"}
    assert set(tags["created_by"]) == {"ann"}
    found = images_of_tag(store, dataset, HOSTILE[1])
    assert found[["image", "class", "left_out", "tagged_by"]].values.tolist() == [
        ["a", "bird", False, "ann"],
        ["b", "bird", False, "ann"],
    ]
    marks = marks_of_images(store, dataset, ["b", "a", "f"])
    assert marks["tags"].tolist() == [sorted(HOSTILE[:4]), sorted(HOSTILE[1:4]), []]
    assert marks["note"].tolist() == [None, HOSTILE[1], None]
    assert list_notes(store, dataset)[["image", "written_by"]].values.tolist() == [["a", "bo"]]
    assert not pending_tags(store, dataset)  # tags alone change no count
    state = dataset_state(store, dataset)
    apply_tags(store, dataset)
    assert dataset_state(store, dataset) == state
    with pytest.raises(OptionError, match="no image 'z'"):
        tag_images(store, dataset, "new", ["a", "z"])
    with pytest.raises(UnknownNameError, match="unknown tag 'new'"):
        set_role(store, dataset, "new", "concept")
    with pytest.raises(UnknownNameError, match="unknown role 'x'"):
        set_role(store, dataset, HOSTILE[0], "x")


def test_what_a_tag_does_is_undone_without_a_trace(store, dataset, dump_of):
    load(store, dataset)
    mine_dataset(store, dataset, MiningOptions(), max_cliques=1000)
    before = dump_of(store, dataset)
    tag_images(store, dataset, "dusk", ["a", "c", "d"])
    tag_images(store, dataset, "sky", ["a", "c"])
    tag_images(store, dataset, "blurred", ["d", "f"])
    for tag, role in (("dusk", "concept"), ("sky", "concept"), ("blurred", "exclude")):
        set_role(store, dataset, tag, role)
    change = pending_tags(store, dataset)
    assert (change.changed, change.left_out, change.brought_back) == (2, 2, 0)
    assert apply_tags(store, dataset) == change
    assert not apply_tags(store, dataset)
    assert shows(store, dataset) == {
        "a": ("bird", {"sky", "dusk"}),
        "b": ("bird", {"sky", "tree"}),
        "c": ("bird", {"sea", "dusk", "sky"}),
        "e": ("fish", {"sky"}),
    }
    assert images_of_tag(store, dataset, "blurred")["left_out"].all()
    load(store, dataset)  # the same file once more
    assert not apply_tags(store, dataset)
    assert shows(store, dataset).keys() == {"a", "b", "c", "e"}
    delete_tag(store, dataset, "blurred")
    change = apply_tags(store, dataset)
    assert change.brought_back == 2
    assert shows(store, dataset)["d"] == ("fish", {"sky", "sea", "dusk"})
    set_role(store, dataset, "dusk", "tag")
    untag_images(store, dataset, "sky", ["a", "c"])
    assert apply_tags(store, dataset).changed == 3
    delete_tag(store, dataset, "dusk")
    delete_tag(store, dataset, "sky")
    load(store, dataset)
    mine_dataset(store, dataset, MiningOptions(), max_cliques=1000)
    after = {text.replace('"tag_concepts": [], ', "") for text in dump_of(store, dataset)}
    assert after == before


@hypothesis_settings(
    max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["dusk", "sky", "bad"]),
            st.sets(st.sampled_from(IDS), max_size=6),
            st.sampled_from(["tag", "concept", "exclude"]),
        ),
        min_size=2,
        max_size=4,
    )
)
def test_counts_after_tagging_equal_brute_force(store, dataset, steps):
    """Whatever tags were before, counts are those of the annotations with the tags of now."""
    load(store, dataset)
    for tag in list_tags(store, dataset)["tag"]:
        delete_tag(store, dataset, tag)
    now = {}
    for tag, ids, role in steps:
        had = now.get(tag, ("tag", set()))[1]
        if had - ids:
            untag_images(store, dataset, tag, sorted(had - ids))
        if ids or had:
            tag_images(store, dataset, tag, sorted(ids))
            set_role(store, dataset, tag, role)
            now[tag] = (role, ids)
        apply_tags(store, dataset)
        out = set().union(*(images for kind, images in now.values() if kind == "exclude"))
        expected = {
            record.id: (
                record.class_name,
                {mention.concept for mention in record.mentions}
                | {
                    name
                    for name, (kind, of) in now.items()
                    if kind == "concept" and record.id in of
                },
            )
            for record in RECORDS
            if record.id not in out
        }
        assert shows(store, dataset) == expected
        if len({class_name for class_name, _ in expected.values()}) == 2:
            assert mined(store, dataset) == counted(expected)
