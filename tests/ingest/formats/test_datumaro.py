"""Datumaro: its own attributes, skeletons, and what is no image."""

import pytest

from cobalance.base.errors import InputError
from tests.ingest.tool_files import boxes, read_files, rows


def datumaro(*annotations, **more):
    annotations = [{"id": 0, "group": 0, "attributes": {}, "label_id": 0, **annotation}
                   for annotation in annotations]  # fmt: skip
    items = [{"id": "a", "annotations": annotations, "image": {"path": "a.jpg", "size": [40, 60]}}]
    categories = {"label": {"labels": [{"name": "hull", "parent": ""}]}}
    return {"info": {}, "categories": categories, "items": items, **more}


def test_datumaros_own_attributes_are_no_concepts(tmp_path):
    own = {"score": 0.25, "is_crowd": True, "track_id": 7, "keyframe": True}
    away = {"type": "bbox", "bbox": [0, 0, 1, 1], "attributes": {"outside": True}}
    document = datumaro({"type": "bbox", "bbox": [1, 2, 3, 4], "attributes": own}, away)
    data = read_files(tmp_path, {"annotations/train.json": document})
    assert rows(data) == {"a.jpg": ["hull"]}
    assert data.mentions[["score", "crowd"]].to_numpy().tolist() == [[0.25, True]]


def test_ellipses_and_turned_boxes_of_datumaro(tmp_path):
    ellipse = {"type": "ellipse", "points": [10, 10, 30, 20]}
    turned = {"type": "rotated_bbox", "bbox": [20, 20, 10, 4, 90]}
    data = read_files(tmp_path, {"a.json": datumaro(ellipse, turned)}, "a.json")
    assert boxes(data, "hull") == [[10, 10, 20, 10], [18, 15, 4, 10]]
    assert data.mentions["segmentation"].notna().all()


def test_a_skeleton_has_the_box_of_its_visible_points(tmp_path):
    skeleton = {"type": "skeleton", "points": [1, 2, 2, 5, 9, 1, 40, 40, 0],
                "points_attributes": [{}, {"bent": True}, {}]}  # fmt: skip
    data = read_files(tmp_path, {"a.json": datumaro(skeleton)}, "a.json")
    assert rows(data) == {"a.jpg": ["bent", "hull"]}
    assert boxes(data, "hull") == [[1, 2, 4, 7]]


@pytest.mark.parametrize("number", [-1, 7])
def test_a_label_without_a_name_is_an_error(tmp_path, number):
    with pytest.raises(InputError, match="is not in labels"):
        read_files(tmp_path, {"a.json": datumaro({"type": "label", "label_id": number})}, "a.json")


def test_point_clouds_are_no_images(tmp_path):
    document = datumaro()
    document["items"][0]["point_cloud"] = {"path": "a.pcd"}
    with pytest.raises(InputError, match="is a point cloud"):
        read_files(tmp_path, {"a.json": document}, "a.json")


def test_frames_of_a_video_are_images_of_it(tmp_path):
    document = datumaro({"type": "label"})
    item = document["items"][0]
    del item["image"]
    item["video_frame"] = {"video_path": "road.mp4", "frame_index": 3}
    data = read_files(tmp_path, {"a.json": document}, "a.json")
    assert data.images["uri"].tolist() == ["road.mp4#frame=3"]
