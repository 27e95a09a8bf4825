"""Boxes and outlines in their file: what is written is read, whatever was there before."""

import json
import os
import threading
from dataclasses import replace
from random import Random

import pandas as pd
import pyarrow.parquet as pq
import pytest

from cobalance.base.errors import InputError, MachineError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.vision.images.region_rows import region_files
from cobalance.vision.images.regions import read_regions, write_regions

HOSTILE = ["a/b", "..", ".", "\u202eشارع 🛣️", "x" * 200, "ü" * 200, "A", "a", " %2F", "con"]
SQUARE = "[[1,1,3,1,3,3,1,3]]"


def image(name, *mentions, size=(640, 480)):
    return ImageRecord(name, "street", mentions, None, None, *size)


def boxed(
    concept, box=(1.5, 2.25, 30.0, 40.0), segmentation=None, score=None, area=None, crowd=False
):
    return Mention(
        concept, score=score, area_px2=area, box=box, segmentation=segmentation, crowd=crowd
    )


def model(records):
    """What a file should hold, image by image, as plain rows."""
    rows = {}
    for record in records:
        rows[record.id] = [
            (
                mention.concept,
                mention.score,
                mention.area_px2,
                mention.box,
                mention.segmentation,
                mention.crowd,
                record.width_px,
            )
            for mention in record.mentions
            if mention.box or mention.segmentation
        ]
    return rows


def held(folder, dataset, ids):
    """The same, read back."""
    frame = read_regions(folder, dataset, ids)
    assert frame["id"].is_monotonic_increasing
    rows = {name: [] for name in ids}
    plain = frame.astype(object).where(frame.notna(), None)
    for row in plain.to_dict("records"):
        box = tuple(row[name] for name in ("x_px", "y_px", "w_px", "h_px"))
        rows[row["id"]].append(
            (
                row["concept"],
                row["score"],
                row["area_px2"],
                None if box[0] is None else box,
                row["segmentation"],
                row["crowd"],
                row["image_width_px"],
            )
        )
    return rows


@pytest.fixture
def random_records():
    def make(seed, n_images, n_ids):
        random = Random(seed)
        names = [f"{number:x}/{HOSTILE[number % 10][:9]}" for number in range(n_ids)]
        records = []
        for name in random.sample(names, n_images):
            mentions = [
                boxed(
                    f"concept {random.randrange(30)}",
                    random.choice([None, tuple(random.uniform(0, 90) for _ in range(4))]),
                    random.choice([None, SQUARE, '{"size":[2,2],"counts":[4]}']),
                    random.choice([None, 0.25]),
                    random.choice([None, 9.5]),
                    random.random() < 0.1,
                )
                for _ in range(random.choice([0, 0, 1, 3, 9]))
            ]
            records.append(image(name, *mentions, size=random.choice([(640, 480), (None, None)])))
        return records

    return make


def test_regions_are_read_as_they_were_written(tmp_path):
    records = [
        image("b", boxed("tree", score=0.5, area=7.0), boxed("cow", segmentation=SQUARE)),
        image("a", Mention("fog"), boxed("road", box=None, segmentation=SQUARE)),
        image("c", Mention("fog")),
    ]
    assert write_regions(tmp_path, "farm", Annotations.from_records(records)) == 3
    assert held(tmp_path, "farm", ["a", "b", "c", "unknown"]) == {**model(records), "unknown": []}
    assert read_regions(tmp_path, "farm", []).empty
    assert read_regions(tmp_path, "another", ["a"]).columns.tolist() == [
        "id", "concept", "score", "area_px2", "x_px", "y_px", "w_px", "h_px", "segmentation",
        "crowd", "image_width_px", "image_height_px",
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_many_row_groups(tmp_path, random_records, seed):
    records = random_records(seed, 2_000, 2_000)
    write_regions(tmp_path, "many", Annotations.from_records(records))
    expected = model(records)
    assert held(tmp_path, "many", list(expected)) == expected
    for n in (1, 12):
        some = Random(seed).sample(sorted(expected), n)
        assert held(tmp_path, "many", some) == {name: expected[name] for name in some}


@pytest.mark.parametrize("seed", range(6))
def test_regions_of_other_images_stay(tmp_path, random_records, seed):
    sizes = ((900, 40), (40, 900), (700, 700), (900, 1), (1, 900), (2, 2))[seed]
    expected = {}
    for part, n_images in enumerate(sizes):
        records = random_records(10 * seed + part, n_images, 1_000)
        write_regions(tmp_path, "farm", Annotations.from_records(records))
        expected |= model(records)
    assert held(tmp_path, "farm", list(expected)) == expected


def test_replacing_leaves_no_other_image(tmp_path):
    first = [image("a", boxed("cow")), image("b", boxed("tree"))]
    second = [image("b", boxed("road"))]
    write_regions(tmp_path, "farm", Annotations.from_records(first))
    write_regions(tmp_path, "farm", Annotations.from_records(second), replace=True)
    assert held(tmp_path, "farm", ["a", "b"]) == {"a": [], **model(second)}


@pytest.fixture
def rewrites(tmp_path):
    """Write regions, and tell whether that made another file."""

    def write(records, *, replace=False):
        path = region_files(tmp_path).path("farm")
        before = path.stat() if path.exists() else None
        annotations = Annotations.from_records(records)
        n_rows = write_regions(tmp_path, "farm", annotations, replace=replace)
        after = path.stat() if path.exists() else None
        assert n_rows == (pq.read_metadata(path).num_rows if after else 0)
        return before != after

    return write


FARM_IMAGES = (
    image("a", boxed("cow", score=0.5, area=7.0), boxed("tree", segmentation=SQUARE)),
    image("b", boxed("cow"), boxed("cow")),
    image("c", Mention("fog")),
)


def test_the_same_regions_again_leave_the_file_alone(rewrites):
    a, b, c = FARM_IMAGES
    assert rewrites([a, b, c])
    for images in ([a, b, c], [c, b, a], [b], [c], [a, image("fog only", Mention("fog"))]):
        assert not rewrites(images)
    for images in ([a, b, c], [b, a]):
        assert not rewrites(images, replace=True)
    labelled = [ImageRecord(one.id, "other", one.mentions, "test", "u", 640, 480) for one in (a, b)]
    assert not rewrites(labelled)  # classes, splits and addresses are no regions


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize(
    "changed",
    [
        image("b", boxed("cow"), boxed("cow", box=(1.5, 2.25, 30.0, 41.0))),
        image("b", boxed("cow"), boxed("calf")),
        image("b", boxed("cow"), boxed("cow", score=0.5)),
        image("b", boxed("cow"), boxed("cow", area=7.0)),
        image("b", boxed("cow"), boxed("cow", segmentation=SQUARE)),
        image("b", boxed("cow"), boxed("cow", crowd=True)),
        image("b", boxed("cow"), boxed("cow"), size=(640, 481)),
        image("b", boxed("cow"), boxed("cow"), size=(None, None)),
        image("b", boxed("cow")),
        image("b", boxed("cow"), boxed("cow"), boxed("cow")),
        image("b", Mention("cow")),
        image("d", boxed("cow"), boxed("cow")),
    ],
)
def test_whatever_differs_is_written(tmp_path, rewrites, changed, replace):
    a, b, _ = FARM_IMAGES
    rewrites([a, b])
    assert rewrites([a, changed], replace=replace)
    expected = {"b": []} if replace else model([b])
    expected |= model([a, changed])
    assert held(tmp_path, "farm", list(expected)) == expected
    assert not rewrites([a, changed], replace=replace)


def test_the_order_of_an_images_regions_is_kept(tmp_path, rewrites):
    first, second = boxed("cow"), boxed("tree")
    rewrites([image("a", first, second)])
    assert rewrites([image("a", second, first)])
    assert held(tmp_path, "farm", ["a"]) == model([image("a", second, first)])


def test_other_images_go_where_they_are_replaced(tmp_path, rewrites):
    a, b, c = FARM_IMAGES
    rewrites([a, b])
    assert not rewrites([a])
    assert rewrites([a], replace=True)
    assert held(tmp_path, "farm", ["a", "b"]) == {**model([a]), "b": []}
    assert rewrites([c], replace=True)
    assert not region_files(tmp_path).path("farm").exists()


@pytest.mark.parametrize("seed", range(8))
def test_a_file_is_left_alone_just_where_nothing_changes(tmp_path, rewrites, random_records, seed):
    """Parts of what is there, some of them with a change, as a model has them."""
    random = Random(seed)
    there = random_records(seed, 1_000, 1_000)
    rewrites(there)
    expected = model(there)
    others = {record.id: record for record in random_records(100 + seed, 1_000, 1_000)}
    for turn in range(6):
        some = random.sample(there, random.choice([1, 40, 1_000]))
        records = [others[one.id] if random.random() < turn * 0.002 else one for one in some]
        replace = random.random() < 0.3
        before = {name: rows for name, rows in expected.items() if rows}
        expected = ({} if replace else expected) | model(records)
        after = {name: rows for name, rows in expected.items() if rows}
        assert rewrites(records, replace=replace) == (before != after)
        assert held(tmp_path, "farm", list(after)) == after


def test_crowds_of_a_coco_file(tmp_path, write):
    """Mentions like any other, and crowds in the file; absent, null and 0 say that it is none."""
    said = [{"iscrowd": 1}, {"iscrowd": 0}, {}, {"iscrowd": None}, {"iscrowd": True}]
    path = write(json.dumps(coco([instance(7, bbox=[0, 0, 1, 1], **one) for one in said])))
    annotations = read_annotations(path, FARM)
    expected = [True, False, False, False, True]
    mentions = {one.id: one.mentions for one in annotations.records()}["7"]
    assert [mention.crowd for mention in mentions] == expected
    write_regions(tmp_path, "farm", annotations)
    assert read_regions(tmp_path, "farm", ["7"])["crowd"].tolist() == expected


def test_annotations_without_the_column_have_no_crowds(tmp_path):
    annotations = Annotations.from_records(FARM_IMAGES)
    assert "crowd" not in annotations.mentions
    assert list(annotations.records()) == list(FARM_IMAGES)
    assert write_regions(tmp_path, "farm", annotations) == 4
    assert not read_regions(tmp_path, "farm", ["a", "b"])["crowd"].any()


def test_images_whose_regions_are_gone(tmp_path):
    write_regions(tmp_path, "farm", Annotations.from_records([image("a", boxed("cow"))]))
    without = Annotations.from_records([image("a", Mention("cow"))])
    assert write_regions(tmp_path, "farm", without) == 0
    assert not region_files(tmp_path).path("farm").exists()
    assert held(tmp_path, "farm", ["a"]) == {"a": []}


def test_nothing_is_written_where_there_are_no_regions(tmp_path):
    annotations = Annotations.from_records([image("a", Mention("cow"))])
    assert write_regions(tmp_path / "regions", "farm", annotations) == 0
    assert not (tmp_path / "regions").exists()


def test_any_name_of_a_dataset_has_a_file_of_its_own(tmp_path):
    folder = tmp_path / "regions"
    for name in HOSTILE:
        write_regions(folder, name, Annotations.from_records([image("a", boxed(name[:9]))]))
    for name in HOSTILE:
        assert read_regions(folder, name, ["a"])["concept"].tolist() == [name[:9]]
    assert len({path.name.lower() for path in folder.glob("*.parquet")}) == len(HOSTILE)
    assert os.listdir(tmp_path) == ["regions"]


def test_rename_and_drop(tmp_path):
    old, stale = ([image("a", boxed(concept))] for concept in ("cow", "stale"))
    write_regions(tmp_path, "farm", Annotations.from_records(old))
    write_regions(tmp_path, "field", Annotations.from_records(stale))
    region_files(tmp_path).rename("farm", "field")
    assert held(tmp_path, "field", ["a"]) == model(old)
    assert held(tmp_path, "farm", ["a"]) == {"a": []}
    region_files(tmp_path).rename("field", "field")
    assert held(tmp_path, "field", ["a"]) == model(old)
    region_files(tmp_path).rename("without regions", "field")
    assert held(tmp_path, "field", ["a"]) == {"a": []}
    write_regions(tmp_path, "farm", Annotations.from_records(old))
    region_files(tmp_path).drop("farm")
    region_files(tmp_path).drop("farm")
    region_files(tmp_path / "no folder").drop("farm")
    assert list(tmp_path.glob("*.parquet")) == []
    assert not (tmp_path / "no folder").exists()


def test_an_interrupted_write_changes_nothing(tmp_path, random_records):
    before = random_records(0, 500, 500)
    write_regions(tmp_path, "farm", Annotations.from_records(before))

    def interrupt(_stage, done, _total):
        if done:
            raise KeyboardInterrupt

    annotations = Annotations.from_records(random_records(1, 500, 500))
    with pytest.raises(KeyboardInterrupt):
        write_regions(tmp_path, "farm", annotations, progress=interrupt)
    assert held(tmp_path, "farm", list(model(before))) == model(before)
    assert list(tmp_path.glob(".*.tmp")) == []


def test_what_a_killed_process_left_is_cleared(tmp_path):
    left = tmp_path / ".farm.0.tmp"
    left.write_bytes(b"half a file")
    write_regions(tmp_path, "farm", Annotations.from_records([image("a", boxed("cow"))]))
    assert not left.exists()


def test_readers_see_one_version_or_the_other(tmp_path):
    names = [f"{number:04d}" for number in range(700)]
    versions = [
        Annotations.from_records([image(name, boxed(concept)) for name in names])
        for concept in ("first", "second")
    ]
    write_regions(tmp_path, "farm", versions[0])
    done, seen = threading.Event(), []

    def read():
        while not done.is_set():
            found = read_regions(tmp_path, "farm", [names[0], names[-1]])["concept"]
            seen.append(tuple(found))

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for turn in range(20):
        write_regions(tmp_path, "farm", versions[turn % 2])
    done.set()
    for reader in readers:
        reader.join()
    assert seen
    assert set(seen) <= {("first", "first"), ("second", "second")}


def test_a_broken_file_is_named(tmp_path):
    annotations = Annotations.from_records([image("a", boxed("cow"))])
    write_regions(tmp_path, "farm", annotations)
    path = region_files(tmp_path).path("farm")
    for content in (path.read_bytes()[:-40], b"", b"PAR1" * 9):
        path.write_bytes(content)
        with pytest.raises(InputError, match="is no file of regions") as caught:
            read_regions(tmp_path, "farm", ["a"])
        assert str(path) in str(caught.value)
        with pytest.raises(InputError):
            write_regions(tmp_path, "farm", annotations)
    write_regions(tmp_path, "farm", annotations, replace=True)
    assert len(read_regions(tmp_path, "farm", ["a"])) == 1


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    annotations = Annotations.from_records([image("a", boxed("cow"))])
    with pytest.raises(MachineError, match="cannot be written"):
        write_regions(tmp_path / "file", "farm", annotations)


def coco(annotations):
    return {
        "images": [{"id": 7, "width": 9, "height": 8}, {"id": 8}, {"id": 10}],
        "categories": [{"id": 1, "name": "cow"}, {"id": 2, "name": "farm"}, {"id": 3, "name": "x"}],
        "annotations": [
            *({"image_id": name, "category_id": 2} for name in (7, 8, 10)),
            *annotations,
        ],
    }


def instance(name, category=1, **more):
    return {"image_id": name, "category_id": category, **more}


FARM = ReadOptions(class_category={"farm": "farm"})


def outlines(write, folder, content, options=FARM):
    """Ingest a COCO file; gives id, concept and segmentation of each region."""
    annotations = read_annotations(write(content), options)
    write_regions(folder, "farm", annotations, replace=True)
    frame = read_regions(folder, "farm", ["7", "8", "10"])
    columns = frame[["id", "concept", "segmentation"]].astype(object)
    return list(columns.where(frame.notna(), None).itertuples(index=False, name=None))


def test_outlines_of_a_coco_file(tmp_path, write):
    polygons = [[1, 1, 3.25, 1, 3, 3], [5, 5, 6, 5, 6, 6]]
    mask = {"counts": "04>", "size": [8, 9]}
    content = coco(
        [
            instance(10, bbox=[1, 2, 3, 4], segmentation=polygons),
            instance(7, 3, segmentation=mask),
            instance(7, bbox=[0, 0, 1, 1], segmentation=None),
            instance(7, bbox=[0, 0, 1, 1], segmentation=[]),
            instance(7, bbox=[0, 0, 1, 1]),
            instance(7, bbox=[0, 0, 1, 1], segmentation="no outline"),
            instance(8),
            instance(8, segmentation=[]),
        ]
    )
    expected = [
        ("10", "cow", "[[1,1,3.25,1,3,3],[5,5,6,5,6,6]]"),
        ("7", "x", '{"counts":"04>","size":[8,9]}'),
        *[("7", "cow", None)] * 4,
    ]
    for text in (
        json.dumps(content),
        json.dumps(content, indent=3),
        "\ufeff" + json.dumps(content, separators=(",", ":")),
    ):
        assert outlines(write, tmp_path, text) == expected
    sizes = read_regions(tmp_path, "farm", ["7", "10"])
    assert sizes.groupby("id")["image_width_px"].first().fillna(0).to_dict() == {"10": 0, "7": 9}


def test_outlines_stay_with_their_records(tmp_path, write):
    """Malformed records, dropped concepts and small regions go, and take their outlines along."""
    content = coco(
        [
            instance(7, bbox=[0, 0, 1, 1], segmentation=[[1]]),
            instance(7, bbox="none", segmentation=[[2]]),
            instance(99, bbox=[0, 0, 1, 1], segmentation=[[3]]),
            instance(8, 3, bbox=[0, 0, 9, 9], segmentation=[[4]]),
            instance(8, bbox=[0, 0, 9, -9], segmentation=[[5]]),
            instance(8, bbox=[0, 0, 9, 9], segmentation=[[6]]),
            instance(10, bbox=[0, 0, 1, 9], segmentation=[[7]]),
        ]
    )
    table = tmp_path / "concepts.csv"
    table.write_text("concept,becomes\ncow,cattle\nx,\n")
    options = replace(
        FARM,
        concept_table=table,
        min_area_px2=5,
        on_error="skip",
    )
    assert outlines(write, tmp_path / "regions", json.dumps(content), options) == [
        ("10", "cattle", "[[7]]"),
        ("8", "cattle", "[[6]]"),
    ]


def test_what_is_no_outline_is_left_out(tmp_path, write):
    """Bytes that are no UTF-8, which reading passes over, reach no file."""
    text = json.dumps(coco([instance(7, bbox=[0, 0, 1, 1], segmentation=["%"])]))
    assert outlines(write, tmp_path, text.encode().replace(b"%", b"\xff")) == [("7", "cow", None)]


def test_an_annotation_file_may_change_once_it_is_read(tmp_path, write):
    """Outlines are views of what was read: a shorter file in its place does no harm."""
    path = write(json.dumps(coco([instance(7, segmentation=[[n] * 4]) for n in range(9_000)])))
    annotations = read_annotations(path, FARM)
    path.write_text("")
    assert write_regions(tmp_path, "farm", annotations) == 9_000
    last = read_regions(tmp_path, "farm", ["7"])["segmentation"].iloc[-1]
    assert last == "[[8999,8999,8999,8999]]"


def test_records_keep_their_outlines():
    records = [image("a", boxed("cow", segmentation=SQUARE), Mention("fog"))]
    assert list(Annotations.from_records(records).records()) == records


def test_outlines_as_records(write):
    text = json.dumps(coco([instance(7, segmentation=[[1, 2]]), instance(8, segmentation=None)]))
    found = {one.id: one.mentions for one in read_annotations(write(text), FARM).records()}
    assert found["7"] == (Mention("cow", segmentation="[[1, 2]]"),)
    assert found["8"] == (Mention("cow"),)


def test_regions_of_a_table(tmp_path, write):
    """Boxes in a table's JSON cells count too."""
    cell = json.dumps([{"concept": "cow", "box": [1, 2, 3, 4], "score": 0.5}, "fog"])
    frame = pd.DataFrame({"image_id": ["a"], "label": ["farm"], "concepts": [cell]})
    annotations = read_annotations(write(frame.to_csv(index=False)))
    assert write_regions(tmp_path, "farm", annotations) == 1
    assert held(tmp_path, "farm", ["a"]) == {
        "a": [("cow", 0.5, None, (1, 2, 3, 4), None, False, None)]
    }
