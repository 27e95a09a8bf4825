"""Files that are joined to annotations."""

import pytest

from cobalance.base.errors import InputError
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions

MAIN = "image_id,label,tags,uri\n1,x,a,u/1.jpg\n2,x,b,u/2.jpg\n3,y,a,v/3.jpg\n"


@pytest.fixture
def files(tmp_path):
    def write(**contents):
        for name, content in contents.items():
            (tmp_path / f"{name}.txt").write_text(content)
        return [tmp_path / f"{name}.txt" for name in contents]

    return write


def joined(paths, **options):
    main, *others = paths
    return read_annotations(main, ReadOptions(join=tuple(others), **options))


def concepts(annotations):
    return {record.id: record.concepts for record in annotations.records()}


@pytest.mark.parametrize(
    "table",
    [
        "image_id,weather\n1,rain\n3,sun\n9,sun\n",
        "weather\tfile\nrain\tu/1.jpg\nsun\tx/v/3.jpg\n",
        "1.jpg rain\n3.jpg sun\n",
        "id,weather\n1,rain\n3,\n3,sun\n",
    ],
)
def test_columns_become_concepts_of_the_images_that_a_file_names(files, table):
    found = joined(files(main=MAIN, weather=table))
    assert concepts(found) == {
        "1": ("a", "weather: rain"),
        "2": ("b",),
        "3": ("a", "weather: sun"),
    }
    assert any("2 of 3 images" in note for note in found.notes)


def test_a_list_may_name_images_by_a_column_of_an_earlier_one(files):
    paths = files(main=MAIN, images="11 u/1.jpg\n12 u/2.jpg\n13 v/3.jpg\n", place="11 land\n13 sea")
    assert concepts(joined(paths)) == {
        "1": ("a", "place: land"), "2": ("b",), "3": ("a", "place: sea"),
    }  # fmt: skip


def test_a_table_of_patients_is_joined_by_their_column(files):
    main = "image_id,label,tags,study,patient\n1,x,a,s1,p1\n2,x,b,s2,p1\n3,y,a,s3,p2\n4,y,b,s4,\n"
    patients = "patient,sex\np3,male\np2,male\np1,female\n"
    found = joined(files(main=main, patients=patients), cluster_column="patient")
    assert concepts(found) == {
        "1": ("a", "sex: female"), "2": ("b", "sex: female"), "3": ("a", "sex: male"), "4": ("b",),
    }  # fmt: skip
    assert found.images["cluster"].tolist()[:3] == ["p1", "p1", "p2"]
    assert any("3 of 4 images by patient" in note for note in found.notes)
    studies = "patient,study,finding\np1,s1,edema\np1,s2,none\np2,s3,edema\n"
    found = concepts(joined(files(main=main, studies=studies)))
    findings = [[name for name in names if "finding" in name] for names in found.values()]
    assert findings == [["finding: edema"], ["finding: none"], ["finding: edema"], []]
    with pytest.raises(InputError, match="has none of the images"):  # which of a patient's rows?
        joined(files(main=main, visits="patient,sex\np1,female\np1,male\n"))


def test_the_name_of_a_list_gives_the_split(files):
    paths = files(main=MAIN, a_train="u/1.jpg\nu/2.jpg\n", a_test="v/3.jpg 7\n")
    found = joined(paths)
    assert found.images["split"].tolist() == ["train", "train", "test"]
    assert set(found.images["class_name"]) == {"x", "y"}  # images have classes already
    with pytest.raises(InputError, match="its name says no split"):
        joined(files(main=MAIN, some="u/1.jpg\n"))


def test_a_class_column_of_a_joined_file(files):
    main = MAIN.replace("label", "color")
    found = joined(files(main=main, more="image_id,label\n1,cat\n2,dog\n"))
    assert found.images["class_name"].tolist() == ["cat", "dog"]
    assert found.set_aside == {"images without a class in more.txt": 1}
    found = joined(files(main=MAIN, more="image_id,kind\n1,p\n2,q\n3,p\n"), class_column="kind")
    assert found.images["class_name"].tolist() == ["p", "q", "p"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("image_id,a\n8,b\n", "has none of the images of"),
        ("image_id,a\n", "has no rows"),
        ("1.jpg a\n2.jpg\n", "line 2: has 1 fields"),
        ("1 2 3 4\n2 3 4 5\n", "has 4 fields a line and no header"),
    ],
)
def test_files_that_cannot_be_joined(files, content, reason):
    paths = files(main=MAIN, more=content)
    with pytest.raises(InputError, match=reason) as caught:
        joined(paths)
    assert caught.value.file == str(paths[1])


def test_lists_of_splits_name_the_classes_of_their_own_images(files):
    main = MAIN.replace("label", "color")
    paths = files(
        main=main, label_train="u/1.jpg great owl\nu/2.jpg hen\n", label_test="v/3.jpg hen\n"
    )
    annotations = joined(paths)
    assert annotations.images["class_name"].tolist() == ["great owl", "hen", "hen"]
    assert annotations.images["split"].tolist() == ["train", "train", "test"]
    assert annotations.set_aside == {}


def test_a_list_of_1_and_minus_1_says_which_images_show_its_class(files):
    annotations = joined(files(main=MAIN, boat_train="1  1\n2 -1\n3 -1\n"))
    shown = [record.id for record in annotations.records() if "boat" in record.concepts]
    assert shown == ["1"]
    assert set(annotations.images["split"]) == {"train"}
