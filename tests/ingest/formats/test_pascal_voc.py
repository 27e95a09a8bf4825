"""Pascal VOC, from a folder and an archive."""

import zipfile
from dataclasses import replace

import pytest

from cobalance.base.errors import InputError
from cobalance.base.records import ALL_IMAGES
from cobalance.ingest.load import detect_format, read_annotations
from cobalance.ingest.options import ReadOptions

XML = """<?xml version="1.0"?>
<annotation><folder>VOC2012</folder><filename>{file}</filename>
<size><width>500</width><height>375</height><depth>3</depth></size>
<object><name>cow</name><difficult>1</difficult>
<bndbox><xmin>11</xmin><ymin>21</ymin><xmax>110</xmax><ymax>220</ymax></bndbox>
<part><name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part>
</object>{more}</annotation>"""
MAN = "<object><name>man</name></object>"
CORNERS = {1: (3, 3), 2: (8, 3), 3: (8, 9)}
WOMAN = "<object><name>woman</name></object>"
OPTIONS = ReadOptions(class_category={"man": "man", "woman": "woman"})


@pytest.fixture
def voc(tmp_path):
    root = tmp_path / "VOC2012"
    (root / "Annotations").mkdir(parents=True)
    (root / "ImageSets" / "Main").mkdir(parents=True)
    (root / "JPEGImages").mkdir()
    for stem, more in (("1", MAN), ("2", WOMAN), ("3", "")):
        (root / "Annotations" / f"{stem}.xml").write_text(XML.format(file=f"{stem}.jpg", more=more))
        (root / "JPEGImages" / f"{stem}.jpg").write_bytes(b"pixels")
    (root / "ImageSets" / "Main" / "train.txt").write_text("1\n3\n")
    (root / "ImageSets" / "Main" / "val.txt").write_text("2\n")
    (root / "ImageSets" / "Main" / "cow_val.txt").write_text("1  1\n")
    return root


def test_boxes_splits_and_classes(voc):
    assert detect_format(voc) == "pascal-voc"
    found = read_annotations(voc, OPTIONS)
    assert found.images["id"].tolist() == ["1.jpg", "2.jpg"]
    assert found.images["class_name"].tolist() == ["man", "woman"]
    assert found.images["split"].tolist() == ["train", "val"]
    assert found.images["uri"].tolist() == ["JPEGImages/1.jpg", "JPEGImages/2.jpg"]
    assert found.images["width_px"].tolist() == [500, 500]
    assert found.mentions["concept"].tolist() == ["cow", "cow"]
    box = found.mentions[["x_px", "y_px", "w_px", "h_px"]].to_numpy()
    assert box[0].tolist() == [10, 20, 100, 200]
    assert found.set_aside == {"images that show none of the class categories": 1}


def test_an_archive_is_read_as_its_folder(voc, tmp_path):
    path = tmp_path / "voc.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in voc.rglob("*"):
            archive.write(file, file.relative_to(tmp_path))
    assert detect_format(path) == "pascal-voc"
    images = read_annotations(path, OPTIONS).images
    assert images["uri"].tolist() == ["VOC2012/JPEGImages/1.jpg", "VOC2012/JPEGImages/2.jpg"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('<!DOCTYPE a [<!ENTITY x "y">]><annotation>&x;</annotation>', "document type"),
        ("<annotation>", "is not XML"),
        ("<html/>", "begins with <html>"),
        (XML.format(file="9.jpg", more="").replace(">500<", ">wide<"), "'wide'"),
        (XML.format(file="9.jpg", more="").replace(">110<", ">inf<"), "no number"),
        (XML.format(file="9.jpg", more="").replace(">110<", ">1<"), "negative"),
        (XML.format(file="9.jpg", more="").replace(">110<", "><"), "has no 'xmax'"),
        (XML.format(file="9.jpg", more="<object/>"), "the concept is empty"),
    ],
)
def test_malformed_files_fail_or_are_skipped(voc, content, reason):
    (voc / "Annotations" / "9.xml").write_text(content)
    with pytest.raises(InputError, match=r"9\.xml") as caught:
        read_annotations(voc, OPTIONS)
    assert reason in str(caught.value)
    skipping = replace(OPTIONS, on_error="skip")
    found = read_annotations(voc, skipping)
    assert {"1.jpg", "2.jpg"} <= set(found.images["id"])
    assert len(found.skipped) == 1


def test_without_classes_all_images_stay(voc):
    annotations = read_annotations(voc)
    assert set(annotations.images["class_name"]) == {ALL_IMAGES}
    assert set(annotations.mentions["image"]) <= set(annotations.images.index)


def test_images_with_one_file_name_are_called_by_their_xml_files(voc):
    for stem in ("1", "2"):
        (voc / "Annotations" / f"{stem}.xml").write_text(XML.format(file="img.jpg", more=""))
    (voc / "JPEGImages" / "img.jpg").write_bytes(b"pixels")
    annotations = read_annotations(voc)
    assert annotations.images["id"].tolist()[:2] == ["Annotations/1.jpg", "Annotations/2.jpg"]
    assert annotations.images["uri"].tolist()[:2] == ["JPEGImages/1.jpg", "JPEGImages/2.jpg"]
    assert "2 images share their names" in "".join(annotations.notes)


def test_pictures_without_xml_are_images_of_nothing(voc):
    (voc / "Annotations" / "3.xml").unlink()
    (voc / "JPEGImages" / "1_mask.png").write_bytes(b"pixels")
    (voc / "JPEGImages" / "2.png").write_bytes(b"pixels")
    annotations = read_annotations(voc)
    assert annotations.images["id"].tolist() == ["1.jpg", "2.jpg", "3.jpg"]
    assert annotations.images["split"].tolist() == ["train", "val", "train"]
    assert "1 picture without annotations counted as images of nothing" in annotations.notes[0]


def test_a_picture_that_may_be_an_image_of_another_name_is_no_image_of_nothing(voc):
    (voc / "JPEGImages" / "3.jpg").rename(voc / "JPEGImages" / "third.jpg")
    annotations = read_annotations(voc)
    assert annotations.images["id"].tolist() == ["1.jpg", "2.jpg", "3.jpg"]
    assert (
        "1 picture without annotations left out, beside 1 image without pictures"
        in annotations.notes[0]
    )


def test_a_list_of_each_class_gives_splits_where_there_is_no_other(voc):
    lists = voc / "ImageSets" / "Main"
    for name in ("train", "val"):
        (lists / f"{name}.txt").unlink()
    (lists / "cow_train.txt").write_text("2 -1\n3  1\n")
    assert read_annotations(voc).images["split"].tolist() == ["val", "train", "train"]


def test_labelmes_web_tool_has_outlines_and_keeps_what_was_deleted(tmp_path):
    points = "<pt><x>1</x><y>2</y></pt><pt><x>9</x><y>2</y></pt><pt><x>9</x><y>8</y></pt>"
    item = "<object><name>{name}</name><deleted>{deleted}</deleted>{more}</object>"
    outline = f"<attributes>red, panes=4</attributes><polygon>{points}</polygon>"
    door = item.format(name=" door ", deleted="0", more=outline)
    window = item.format(name="window", deleted="1", more="")
    text = f"<annotation><filename>1.jpg</filename>{door}{window}</annotation>"
    (tmp_path / "1.xml").write_text(text)
    mentions = read_annotations(tmp_path).mentions
    doors = mentions[mentions["concept"] == "door"]
    assert doors[["x_px", "y_px", "w_px", "h_px"]].to_numpy().tolist() == [[1, 2, 8, 6]]
    assert bytes(doors["segmentation"].iloc[0]) == b"[[1.0, 2.0, 9.0, 2.0, 9.0, 8.0]]"
    assert "window" not in set(mentions["concept"])


def test_a_turned_box_of_rolabelimg_has_its_outline(tmp_path):
    sides = "<cx>10</cx><cy>10</cy><w>8</w><h>4</h><angle>1.5707963267948966</angle>"
    ship = f"<object><name>ship</name><robndbox>{sides}</robndbox></object>"
    (tmp_path / "1.xml").write_text(f"<annotation><filename>1.jpg</filename>{ship}</annotation>")
    mentions = read_annotations(tmp_path).mentions
    box = mentions[["x_px", "y_px", "w_px", "h_px"]].to_numpy()[0]
    assert box.round(6).tolist() == [8, 6, 4, 8]


def test_an_outline_beside_a_box_is_counted_from_1_as_well(tmp_path):
    sides = "<bndbox><xmin>3</xmin><ymin>3</ymin><xmax>8</xmax><ymax>9</ymax></bndbox>"
    corners = "".join(f"<x{i}>{x}</x{i}><y{i}>{y}</y{i}>" for i, (x, y) in CORNERS.items())
    thing = f"<object><name>hull</name>{sides}<polygon>{corners}</polygon></object>"
    (tmp_path / "1.xml").write_text(f"<annotation><filename>1.jpg</filename>{thing}</annotation>")
    mentions = read_annotations(tmp_path).mentions
    assert mentions[["x_px", "y_px", "w_px", "h_px"]].to_numpy().tolist() == [[2, 2, 6, 7]]
    assert bytes(mentions["segmentation"].iloc[0]) == b"[[2.0, 2.0, 7.0, 2.0, 7.0, 8.0]]"


def test_lists_are_of_the_images_beside_them(tmp_path):
    for folder, split in (("VOC2007", "train"), ("VOC2012", "val")):
        (tmp_path / folder / "Annotations").mkdir(parents=True)
        (tmp_path / folder / "ImageSets" / "Main").mkdir(parents=True)
        (tmp_path / folder / "ImageSets" / "Main" / f"{split}.txt").write_text("1\n")
        text = XML.format(file="1.jpg", more="")
        (tmp_path / folder / "Annotations" / "1.xml").write_text(text)
    images = read_annotations(tmp_path).images
    assert images["id"].tolist() == ["VOC2007/Annotations/1.jpg", "VOC2012/Annotations/1.jpg"]
    assert images["split"].tolist() == ["train", "val"]


def test_a_picture_lies_in_a_folder_called_as_that_of_its_file(tmp_path):
    for folder in ("monday", "tuesday"):
        for kind in ("Annotations", "JPEGImages"):
            (tmp_path / kind / folder).mkdir(parents=True)
        text = XML.format(file="1.jpg", more="")
        (tmp_path / "Annotations" / folder / "1.xml").write_text(text)
        (tmp_path / "JPEGImages" / folder / "1.jpg").write_bytes(b"pixels")
    images = read_annotations(tmp_path).images
    assert images["uri"].tolist() == ["JPEGImages/monday/1.jpg", "JPEGImages/tuesday/1.jpg"]


def test_names_in_lists_may_have_spaces(voc):
    (voc / "Annotations" / "4 b.xml").write_text(XML.format(file="4 b.jpg", more=""))
    (voc / "JPEGImages" / "4 b.jpg").write_bytes(b"pixels")
    (voc / "ImageSets" / "Main" / "test.txt").write_text("4 b\n1 b\n")
    images = read_annotations(voc).images.set_index("id")
    assert images["split"]["4 b.jpg"] == "test"
    assert images["split"]["1.jpg"] == "train"
