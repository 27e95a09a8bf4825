"""Pages of a clique's images: from the packed lists as from the query, also when those are old."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.dataset import image_lists
from cobalance.graph.dataset.drop_rename import drop_dataset, rename_dataset
from cobalance.graph.dataset.image_lists import find_images
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.graph.queries.clique_images import read_clique_images, read_image_page

LISTS = "MATCH (t:ImageList {dataset: $d}) RETURN t.key AS key, t.content AS content ORDER BY key"


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(image_lists, "IDS_PER_PAGE", 7)


def write(store, dataset, annotations, **options):
    write_annotations(store, dataset, annotations, source="a test", **options)


def by_query(store, dataset, concepts, class_name, skip, limit):
    query = CATALOGUE["images-of-clique"]
    given = {"dataset": dataset, "concepts": concepts, "class": class_name}
    return store.read_frame(query.text, **query.bind({**given, "skip": skip, "limit": limit}))


def shuffled(annotations, seed=4):
    records = list(annotations.records())
    return Annotations.from_records(
        [records[at] for at in np.random.default_rng(seed).permutation(len(records))]
    )


def test_every_page_is_that_of_the_query(store, dataset, random_annotations):
    annotations = shuffled(random_annotations(120))
    write(store, dataset, annotations)
    names = annotations.mentions["concept"].cat.categories.tolist()
    classes = annotations.images["class_name"].cat.categories.tolist()
    seen = 0
    for size in (1, 2, 3):
        for concepts in combinations(names, size):
            for class_name, skip, limit in zip(classes, (0, 2, 9), (50, 3, 8), strict=True):
                asked = (store, dataset, list(concepts), class_name)
                expected = by_query(*asked, skip, limit)
                ids, total = find_images(*asked, skip=skip, limit=limit)
                assert ids == expected["id"].tolist()
                assert total == len(by_query(*asked, 0, 999))
                found = read_clique_images(*asked, skip=skip, limit=limit)
                pd.testing.assert_frame_equal(found, expected, check_dtype=False)
                seen += len(ids)
    assert seen > 100


def test_images_with_and_without_a_compared_concept_are_of_all_classes(
    store, dataset, random_annotations
):
    annotations = shuffled(random_annotations(120))
    write(store, dataset, annotations)
    shown = {it.id: {one.concept for one in it.mentions} for it in annotations.records()}
    first, second, *_ = annotations.mentions["concept"].cat.categories.tolist()
    for lists in (True, False):
        if not lists:  # the query itself
            store.write("MATCH (t:ImageList {dataset: $d}) SET t.digest = 0", d=dataset)
        for side, has in ((first, True), (f"no {first}", False)):
            asked = {"compared": first, "limit": 200}
            found = read_clique_images(store, dataset, [second], side, **asked)["id"].tolist()
            expected = [it for it, of in shown.items() if second in of and (first in of) == has]
            assert found == sorted(expected)
            assert len(found) > 5


@pytest.mark.parametrize("has_lists", [True, False])
def test_pages_of_all_images_of_a_class_and_of_concepts(
    store, dataset, random_annotations, has_lists
):
    annotations = shuffled(random_annotations(60))
    write(store, dataset, annotations)
    if not has_lists:  # as of a sample, or before they follow the images
        store.write("MATCH (t:ImageList {dataset: $d}) DETACH DELETE t", d=dataset)
    shown = {
        image.id: (image.class_name, sorted({mention.concept for mention in image.mentions}))
        for image in annotations.records()
    }
    names = annotations.mentions["concept"].cat.categories.tolist()[:3]
    classes = annotations.images["class_name"].cat.categories.tolist()
    for class_name in (None, *classes):
        for concepts in ([], names[:1], names[1:]):
            expected = sorted(
                image
                for image, (label, concepts_shown) in shown.items()
                if class_name in (None, label) and {*concepts} <= {*concepts_shown}
            )
            images, total = read_image_page(store, dataset, concepts, class_name, skip=2, limit=9)
            assert total == len(expected)
            assert images["id"].tolist() == expected[2:11]
            contents = [*zip(images["class"], images["concepts"], strict=True)]
            assert contents == [shown[image] for image in images["id"]]


def test_lists_follow_the_images(store, dataset, random_annotations):
    first = random_annotations(30)
    write(store, dataset, first)
    more = [
        ImageRecord("0 first of all", "only here", (Mention("seen once"),)),
        ImageRecord('a "quoted" id', "only here", (Mention("seen once"), Mention("twice"))),
    ]
    write(store, dataset, Annotations.from_records(more))  # the others stay, and are read again
    found = find_images(store, dataset, ["seen once"], "only here", skip=0, limit=9)
    assert found == (["0 first of all", 'a "quoted" id'], 2)
    name = first.mentions["concept"].cat.categories[0]
    for class_name in first.images["class_name"].cat.categories:
        asked = (store, dataset, [name], class_name)
        assert find_images(*asked, skip=0, limit=99)[0] == by_query(*asked, 0, 99)["id"].tolist()
    renamed = f"{dataset} renamed"
    rename_dataset(store, dataset, renamed)
    assert find_images(store, renamed, ["twice"], "only here", skip=0, limit=9)
    drop_dataset(store, renamed)
    assert store.read(LISTS, d=renamed) == []


def test_lists_of_other_images_are_not_read(store, dataset, random_annotations):
    annotations = random_annotations(30)
    write(store, dataset, annotations)
    name = annotations.mentions["concept"].cat.categories[0]
    class_name = annotations.images["class_name"].cat.categories[0]
    asked = (store, dataset, [name], class_name)
    expected = by_query(*asked, 0, 50)
    assert len(expected)
    store.write("MATCH (t:ImageList {dataset: $d}) SET t.digest = t.digest + 1", d=dataset)
    assert find_images(*asked, skip=0, limit=50) is None
    pd.testing.assert_frame_equal(read_clique_images(*asked), expected)


def test_equal_images_in_another_order_give_equal_lists(store, dataset, random_annotations):
    annotations = random_annotations(40)
    write(store, dataset, annotations)
    first = store.read(LISTS, d=dataset)
    drop_dataset(store, dataset)
    write(store, dataset, shuffled(annotations))
    assert store.read(LISTS, d=dataset) == first
