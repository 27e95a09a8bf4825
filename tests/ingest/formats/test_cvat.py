"""CVAT's XML, as Datumaro wrote it and as CVAT's documentation has it."""

import re

import numpy as np
import pytest

from cobalance.base.errors import InputError
from cobalance.ingest.load import detect_format, read_annotations
from cobalance.ingest.options import ReadOptions
from tests.ingest.dataset_files import archive, pixels

# Written by datumaro 1.13.12 (Dataset.export(..., "cvat")), without the lines of its labels.
IMAGES = """<?xml version="1.0" encoding="utf-8"?>
<annotations>
  <version>1.1</version>
  <meta><task><name>train</name><size>2</size><mode>annotation</mode></task></meta>
  <image id="0" name="street/1.jpg" width="64" height="48">
    <box label="car" occluded="1" outside="0" keyframe="0" xtl="8.00" ytl="12.00" xbr="24.00"
     ybr="36.00" z_order="1">
    </box>
    <polygon label="bus" occluded="0" outside="0" keyframe="0"
     points="1.00,1.00;9.00,1.00;9.00,9.00" z_order="0">
    </polygon>
    <tag label="night">
    </tag>
    <polyline label="bus" occluded="0" outside="0" keyframe="0" points="0.00,0.00;5.00,5.00"
     z_order="0">
    </polyline>
  </image>
  <image id="1" name="street/2.jpg" width="64" height="48">
  </image>
</annotations>"""
VIDEO = """<annotations><version>1.1</version>
<meta><task><name>drive</name><size>4</size><mode>interpolation</mode>
<original_size><width>64</width><height>48</height></original_size><source>drive.mp4</source>
</task></meta>
<track id="0" label="car" source="manual">
  <box frame="0" outside="0" occluded="0" keyframe="1" xtl="1" ytl="2" xbr="11" ybr="22">
    <attribute name="parked">true</attribute><attribute name="color">red</attribute></box>
  <box frame="1" outside="0" occluded="1" keyframe="0" xtl="2" ytl="2" xbr="12" ybr="22"/>
  <box frame="2" outside="1" occluded="0" keyframe="1" xtl="2" ytl="2" xbr="12" ybr="22"/>
</track>
<track id="1" label="dog"><points frame="1" outside="0" keyframe="1" points="3,4;5,9"/></track>
</annotations>"""


def boxes(found):
    columns = found.mentions[["concept", "x_px", "y_px", "w_px", "h_px"]]
    return [(name, *np.nan_to_num(box, nan=-1)) for name, *box in columns.itertuples(index=False)]


def test_images_have_their_shapes_and_tags(tmp_path):
    (tmp_path / "annotations.xml").write_text(IMAGES)
    assert detect_format(tmp_path / "annotations.xml") == "cvat"
    found = read_annotations(tmp_path / "annotations.xml")
    assert found.images["id"].tolist() == ["street/1.jpg", "street/2.jpg"]
    assert set(found.images["width_px"]) == {64}
    assert boxes(found)[:4] == [
        ("car", 8, 12, 16, 24), ("bus", 1, 1, 8, 8), ("night", -1, -1, -1, -1),
        ("bus", 0, 0, 5, 5),
    ]  # fmt: skip
    assert bytes(found.mentions["segmentation"][1]) == b"[[1.0, 1.0, 9.0, 1.0, 9.0, 9.0]]"


def test_an_archive_finds_its_images(tmp_path):
    path = tmp_path / "task.zip"
    files = {"task/annotations.xml": IMAGES.encode(), "task/images/street/1.jpg": pixels()}
    path.write_bytes(archive(files))
    assert detect_format(path) == "cvat"
    uris = read_annotations(path).images["uri"].tolist()
    assert uris == ["task/images/street/1.jpg", "street/2.jpg"]


def test_all_frames_of_a_video_are_images(tmp_path):
    (tmp_path / "drive.xml").write_text(VIDEO)
    found = read_annotations(tmp_path / "drive.xml")
    names = [f"drive.mp4/frame_00000{number}.PNG" for number in range(4)]
    assert found.images["id"].tolist() == names
    assert set(found.images["cluster"]) == {"drive.mp4"}
    shown = [[*record.concepts] for record in found.records()]
    assert [[name for name in names if name in ("car", "dog")] for names in shown] == [
        ["car"], ["car", "dog"], [], [],
    ]  # fmt: skip
    assert boxes(found)[1] == ("car", 2, 2, 10, 20)
    assert found.images["uri"][3] == "drive.mp4#frame=3"


def test_frames_that_were_saved_or_lie_in_a_video_beside_are_found(tmp_path):
    (tmp_path / "annotations.xml").write_text(VIDEO)
    for name in ("images/frame_000001.PNG", "videos/drive.mp4"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(pixels())
    uris = read_annotations(tmp_path).images["uri"].tolist()
    assert uris[:2] == ["videos/drive.mp4#frame=0", "images/frame_000001.PNG"]


def test_frames_that_a_task_left_out_are_no_images(tmp_path):
    every = "<start_frame>1</start_frame><frame_filter>step=2</frame_filter><size>2</size>"
    text = re.sub("<size>.*?</size>", every, VIDEO)
    (tmp_path / "drive.xml").write_text(text.replace('frame="0"', 'frame="1"'))
    uris = read_annotations(tmp_path / "drive.xml").images["uri"].tolist()
    assert uris == ["drive.mp4#frame=1", "drive.mp4#frame=3"]


def test_a_turned_box_has_its_outline(tmp_path):
    text = IMAGES.replace('xtl="8.00"', 'rotation="90" xtl="8.00"')
    (tmp_path / "a.xml").write_text(text)
    _, *box = boxes(read_annotations(tmp_path / "a.xml"))[0]
    assert np.allclose(box, (4, 16, 24, 16))  # around its centre (16, 24)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("<annotations>", "<!DOCTYPE a [<!ENTITY b 'c'>]><annotations>", "document type"),
        ("</annotations>", "", "is not XML"),
        ('xtl="8.00"', 'xtl="left"', "image 1"),
        ('label="car"', 'label=""', "image 1"),
        ('width="64"', 'width="64.5.5"', "image 1"),
    ],
)
def test_damage_is_named(tmp_path, old, new, reason):
    (tmp_path / "a.xml").write_text(IMAGES.replace(old, new, 1))
    with pytest.raises(InputError, match=reason):
        read_annotations(tmp_path / "a.xml")


def test_malformed_images_can_be_skipped(tmp_path):
    (tmp_path / "a.xml").write_text(IMAGES.replace('xtl="8.00"', 'xtl="left"'))
    found = read_annotations(tmp_path / "a.xml", ReadOptions(on_error="skip"))
    assert len(found.skipped) == 1
    assert found.images["id"].tolist() == ["street/2.jpg"]


def test_frames_are_independent_where_people_say_so(tmp_path):
    (tmp_path / "drive.xml").write_text(VIDEO)
    found = read_annotations(tmp_path / "drive.xml", ReadOptions(field={"video": "ignore"}))
    assert "cluster" not in found.images
    assert [one.kind for one in found.fields if one.column == "video"] == ["ignore"]


def test_images_of_one_name_are_told_apart_by_their_subset_or_task(tmp_path):
    image = '<image id="{0}" name="1.png" {1}="{2}" width="9" height="9">{3}</image>'
    hull = '<tag label="hull" source="manual"/>'
    images = image.format(0, "subset", "Train", hull) + image.format(1, "subset", "Validation", "")
    (tmp_path / "annotations.xml").write_text(f"<annotations>{images}</annotations>")
    for subset in ("Train", "Validation"):
        (tmp_path / "images" / subset).mkdir(parents=True)
        (tmp_path / "images" / subset / "1.png").write_bytes(b"pixels")

    images = read_annotations(tmp_path).images
    assert images["id"].tolist() == ["Train/1.png", "Validation/1.png"]
    assert images["uri"].tolist() == ["images/Train/1.png", "images/Validation/1.png"]
    alone = read_annotations(tmp_path / "annotations.xml").images
    assert alone["uri"].tolist() == ["Train/1.png", "Validation/1.png"]


def test_frames_of_two_videos_of_a_project_are_never_one_image(tmp_path):
    task = "<task><id>{}</id><name>dawn</name><size>2</size><subset>{}</subset></task>"
    tasks = task.format(7, "Train") + task.format(8, "default")
    track = '<track label="{}" task_id="{}"><box frame="0" outside="0" {}/></track>'
    sides = 'xtl="1" ytl="1" xbr="5" ybr="5"'
    tracks = track.format("lorry", 7, sides) + track.format("moped", 8, sides)
    meta = f"<meta><project><tasks>{tasks}</tasks></project></meta>"
    (tmp_path / "annotations.xml").write_text(f"<annotations>{meta}{tracks}</annotations>")

    annotations = read_annotations(tmp_path)
    assert annotations.images["id"].tolist() == [
        "dawn/frame_000000.PNG",
        "dawn/frame_000001.PNG",
        "dawn (8)/frame_000000.PNG",
        "dawn (8)/frame_000001.PNG",
    ]
    assert annotations.mentions["image"].tolist() == [0, 2]
    assert annotations.images["cluster"].nunique() == 2
    assert (
        annotations.images["split"].astype(object).fillna("").tolist() == ["train"] * 2 + [""] * 2
    )


def test_cuboids_and_skeletons_have_the_box_around_them(tmp_path):
    corners = ("tl1", "bl1", "tr1", "br1", "tl2", "bl2", "tr2", "br2")
    sides = " ".join(f'x{name}="{i}" y{name}="{2 * i}"' for i, name in enumerate(corners, 1))
    joint = '<points label="{}" outside="{}" points="{}"/>'
    joints = joint.format("hip", 0, "2,3") + joint.format("knee", 0, "5,9")
    joints += joint.format("foot", 1, "0,0")
    shapes = f'<cuboid label="crate" {sides}/><skeleton label="man">{joints}</skeleton>'
    image = f'<image id="0" name="1.png" width="9" height="20">{shapes}</image>'
    (tmp_path / "annotations.xml").write_text(f"<annotations>{image}</annotations>")
    mentions = read_annotations(tmp_path).mentions
    boxes = mentions[["x_px", "y_px", "w_px", "h_px"]].to_numpy().tolist()
    assert boxes == [[1, 2, 7, 14], [2, 3, 3, 6]]


def test_tasks_of_one_subset_may_have_images_of_one_name(tmp_path):
    image = '<image id="0" name="1.png" subset="Train" task_id="{}" width="9" height="9"/>'
    images = image.format(7) + image.format(8)
    (tmp_path / "annotations.xml").write_text(f"<annotations>{images}</annotations>")
    annotations = read_annotations(tmp_path)
    assert annotations.images["id"].tolist() == ["Train/7/1.png", "Train/8/1.png"]
    assert annotations.images["split"].tolist() == ["train", "train"]


def test_videos_of_one_name_in_two_folders_are_two_clusters(tmp_path):
    track = '<track label="lorry"><box frame="0" outside="0" xtl="1" ytl="1" xbr="5" ybr="5"/>'
    meta = "<meta><task><name>drive.mp4</name><size>1</size></task></meta>"
    for folder in ("monday", "tuesday"):
        (tmp_path / folder).mkdir()
        text = f"<annotations>{meta}{track}</track></annotations>"
        (tmp_path / folder / "annotations.xml").write_text(text)
    images = read_annotations(tmp_path).images
    assert images["cluster"].tolist() == ["monday/drive.mp4", "tuesday/drive.mp4"]


def test_a_turned_ellipse_has_its_own_extent(tmp_path):
    (tmp_path / "a.xml").write_text(
        '<annotations><image id="0" name="a.jpg" width="100" height="100"><ellipse label="egg" '
        'cx="50" cy="50" rx="30" ry="10" rotation="90"/></image></annotations>'
    )
    egg = read_annotations(tmp_path / "a.xml").mentions.iloc[0]
    assert egg[["x_px", "y_px", "w_px", "h_px"]].round(6).tolist() == [40, 20, 20, 60]
    assert egg["segmentation"] is not None
