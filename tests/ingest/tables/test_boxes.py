"""Boxes in columns of tables: of objects, relative ones, and what is none."""

import pytest

from cobalance.base.records import ALL_IMAGES
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions


def mentions(annotations):
    """Image, concept and box of each mention."""
    return [(one.id, m.concept, m.box) for one in annotations.records() for m in one.mentions]


@pytest.mark.parametrize(
    ("header", "sides"),
    [
        ("bbox_x1,bbox_y1,bbox_x2,bbox_y2", "10,20,40,60"),
        ("XMin,YMin,XMax,YMax", "0.1,0.25,0.4,0.75"),
        ("x,y,w,h", "10,20,30,40"),
        ("box_left,box_top,box_width,box_height", "10,20,30,40"),
    ],
)
def test_boxes_of_objects(write, header, sides):
    path = write(f"image,width,height,{header},category\n1.jpg,100,80,{sides},car\n")
    found = read_annotations(path)
    assert mentions(found) == [("1.jpg", "car", pytest.approx((10, 20, 30, 40)))]
    assert found.images["class_name"].tolist() == [ALL_IMAGES]


def test_relative_boxes_without_sizes_are_left_out_and_codes_keep_their_column(write):
    path = write("image,class_id,xmin,ymin,xmax,ymax\n1.jpg,3,0.1,0.2,0.3,0.4\n2.jpg,,,,,\n")
    found = read_annotations(path)
    assert mentions(found) == [("1.jpg", "class_id: 3", None)]
    named = read_annotations(path, ReadOptions(names={"class_id": {"3": "car"}}))
    assert mentions(named) == [("1.jpg", "car", None)]
    assert found.images["id"].tolist() == ["1.jpg", "2.jpg"]


def test_a_class_that_an_option_names_is_of_the_image_and_boxes_are_of_the_other_columns(write):
    path = write("image,label,part,x1,y1,x2,y2\n1.jpg,cat,head,1,2,4,6\n1.jpg,cat,tail,5,5,7,8\n")
    found = read_annotations(path, ReadOptions(class_column="label"))
    assert mentions(found) == [
        ("1.jpg", "part: head", (1, 2, 3, 4)), ("1.jpg", "part: tail", (5, 5, 2, 3)),
    ]  # fmt: skip
    assert found.images["class_name"].tolist() == ["cat"]


@pytest.mark.parametrize("sides", ["9,2,4,6", "1,2,,6", "1,2,x,6", "1,2,inf,6"])
def test_what_is_no_box(write, malformed, sides):
    path = write(f"image,label,x1,y1,x2,y2\n1.jpg,cat,1,2,4,6\n2.jpg,cat,{sides}\n")
    found = malformed(path, "line 3", "no box", "four numbers")
    assert mentions(found) == [("1.jpg", "cat", (1, 2, 3, 4))]
