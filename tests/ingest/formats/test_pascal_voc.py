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
        (XML.format(file="1.jpg", more=""), "'1.jpg' is at"),
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
