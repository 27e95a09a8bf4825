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
        ("x1,y1,w,h", "10,20,30,40"),
        ("min_x,min_y,max_x,max_y", "10,20,40,60"),
        ("x1,y1,bbox_width,bbox_height", "10,20,30,40"),
        ("xmin,ymin,w,h", "10,20,30,40"),
        ("x_center,y_center,w,h", "25,40,30,40"),
        ("x1,y1,x2,y2,x3,y3,x4,y4", "10,40,25,20,40,45,20,60"),
        ("bbox", '"[10.0, 20.0, 30.0, 40.0]"'),
        ("bbox", "10 20 30 40"),
        ("bbox_xyxy", '"(10, 20, 40, 60)"'),
        ("xmin ymin xmax ymax", "10 20 40 60"),
        ("bounding_box", '"45,30,60,50"'),
    ],
)
def test_boxes_of_objects(write, header, sides):
    path = write(f"image,width,height,{header},category\n1.jpg,100,80,{sides},car\n")
    found = read_annotations(path)
    expected = (45, 30, 15, 20) if header == "bounding_box" else (10, 20, 30, 40)
    assert mentions(found) == [("1.jpg", "car", pytest.approx(expected))]
    assert found.images["class_name"].tolist() == [ALL_IMAGES]


def test_relative_boxes_without_sizes_are_left_out_and_codes_keep_their_column(write):
    path = write("image,class_id,xmin,ymin,xmax,ymax\n1.jpg,3,0.1,0.2,0.3,0.4\n2.jpg,,,,,\n")
    found = read_annotations(path)
    assert mentions(found) == [("1.jpg", "class_id: 3", None)]
    assert "1 relative box left out, as no columns name" in found.notes[0]
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


def test_what_stands_beside_a_box_is_of_its_object_and_no_concept(write):
    path = write(
        "image,label,x1,y1,w,h,score,area,iscrowd,track_id,frame\n"
        "1.jpg,cat,1,2,3,4,0.5,11,0,7,1\n1.jpg,dog,2,2,3,4,0.75,9,1,8,1\n"
    )
    annotations = read_annotations(path)
    columns = ["concept", "score", "area_px2", "crowd"]
    assert annotations.mentions[columns].to_numpy().tolist() == [
        ["cat", 0.5, 11.0, False], ["dog", 0.75, 9.0, True]
    ]  # fmt: skip


def test_a_cell_of_a_box_may_be_empty(write):
    path = write('image_id,bbox,source\na,"[1.0, 2.0, 3.0, 4.0]",north\nb,,south\n')
    assert mentions(read_annotations(path)) == [
        ("a", "source: north", (1, 2, 3, 4)), ("b", "source: south", None)
    ]  # fmt: skip
