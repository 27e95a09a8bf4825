"""JSON of published datasets: what is deleted, ignored or a crowd, and names of pictures."""

from PIL import Image

from tests.ingest.tool_files import boxes, read_files, rows

TRIANGLE = [[1, 1], [9, 1], [9, 9]]


def test_deleted_objects_of_cityscapes_are_not_seen_and_groups_are_crowds(tmp_path):
    objects = [
        {"label": "road", "polygon": TRIANGLE},
        {"label": "bicycle", "polygon": TRIANGLE, "deleted": 1},
        {"label": "cargroup", "polygon": TRIANGLE},
    ]
    document = {"imgHeight": 40, "imgWidth": 60, "objects": objects}
    data = read_files(tmp_path, {"ulm_000000_000001_gtFine_polygons.json": document})
    assert rows(data) == {"ulm_000000_000001": ["car", "road"]}
    assert data.mentions["crowd"].tolist() == [False, True]


def test_boxes_of_city_persons_are_read(tmp_path):
    objects = [{"label": "pedestrian", "bbox": [1, 2, 3, 4], "bboxVis": [1, 2, 3, 3]},
               {"label": "ignore", "bbox": [0, 0, 9, 9]}]  # fmt: skip
    document = {"imgHeight": 40, "imgWidth": 60, "objects": objects}
    data = read_files(tmp_path, {"ulm_000000_000001_gtBboxCityPersons.json": document})
    assert rows(data) == {"ulm_000000_000001": ["pedestrian"]}
    assert boxes(data, "pedestrian") == [[1, 2, 3, 4]]


def test_polygons_of_vistas_are_read(tmp_path):
    car = {"label": "object--vehicle--car", "polygon": TRIANGLE}
    road = {"label": "construction--flat--road", "polygon": TRIANGLE}
    files = {
        f"v2.0/polygons/{name}.json": {"width": 40, "height": 30, "objects": objects}
        for name, objects in {"a": [car, road], "b": [road]}.items()
    }
    data = read_files(tmp_path, files)
    assert rows(data) == {
        "a": ["construction--flat--road", "object--vehicle--car"],
        "b": ["construction--flat--road"],
    }
    assert data.images["uri"].tolist() == ["a.jpg", "b.jpg"]


BOX = {"x1": 1, "y1": 2, "x2": 9, "y2": 8}


def test_a_file_an_image_of_bdd_is_read(tmp_path):
    area = {"category": "area/drivable", "poly2d": [[1, 1, "L"], [9, 1, "L"], [9, 9, "C"]]}
    car = {"category": "car", "attributes": {"occluded": True}, "box2d": BOX}
    files = {
        f"100k/train/{name}.json": {"name": name, "attributes": {"weather": weather},
                                    "frames": [{"timestamp": 10000, "objects": objects}]}
        for name, weather, objects in (("a", "clear", [car, area]), ("b", "rainy", [car]))
    }  # fmt: skip
    data = read_files(tmp_path, files)
    assert rows(data) == {
        "a": ["area/drivable", "car", "occluded", "weather: clear"],
        "b": ["car", "occluded", "weather: rainy"],
    }
    assert boxes(data, "car") == [[1, 2, 8, 6]] * 2
    assert set(data.images["split"]) == {"train"}


def test_labels_that_scalabel_ignores_are_not_seen(tmp_path):
    labels = [
        {"category": "car", "box2d": BOX, "attributes": {"crowd": True}},
        {"category": "bus", "box2d": BOX, "attributes": {"ignored": True}},
    ]
    document = {"frames": [{"name": "a.jpg", "labels": labels}, {"name": "b.jpg", "labels": None}]}
    data = read_files(tmp_path, {"labels.json": document}, "labels.json")
    assert rows(data) == {"a.jpg": ["car"], "b.jpg": []}
    assert data.mentions["crowd"].tolist() == [True]


def panoptic(images, *annotations):
    categories = [{"id": 1, "name": "kerb", "isthing": 0}, {"id": 2, "name": "van", "isthing": 1}]
    return {"images": images, "annotations": list(annotations), "categories": categories}


def test_panoptic_images_are_those_of_their_list(tmp_path):
    images = [{"id": n, "file_name": f"lot_{n}.png", "width": 60, "height": 40} for n in (1, 2)]
    segments = [
        {"id": 5, "category_id": 1, "bbox": [1, 1, 3, 3], "iscrowd": 0},
        {"id": 6, "category_id": 2, "iscrowd": 1},
    ]
    annotation = {"image_id": 1, "file_name": "lot_1_panoptic.png", "segments_info": segments}
    document = panoptic(images, annotation)
    data = read_files(tmp_path, {"panoptic_train.json": document}, "panoptic_train.json")
    assert rows(data) == {"lot_1.png": ["kerb", "van"], "lot_2.png": []}
    assert data.images["width_px"].tolist() == [60, 60]
    assert boxes(data, "kerb") == [[1, 1, 3, 3]]
    van = data.mentions.iloc[1]
    assert van["crowd"]
    assert van[["x_px", "y_px", "w_px", "h_px"]].isna().all()


def test_objects_of_ade20k_are_read(tmp_path):
    chair = {"name": "chair", "polygon": {"x": [1, 9, 9], "y": [1, 1, 9]}}
    about = {"filename": "a.jpg", "imsize": [40, 60, 3], "object": [chair],
             "scene": ["home", "kitchen"]}  # fmt: skip
    other = {**about, "filename": "b.jpg", "object": [], "scene": ["home", "hall"]}
    files = {f"{one['filename'][0]}.json": {"annotation": one} for one in (about, other)}
    data = read_files(tmp_path, files)
    assert rows(data) == {
        "a.jpg": ["chair", "scene: home", "scene: kitchen"],
        "b.jpg": ["scene: hall", "scene: home"],
    }
    assert data.images["width_px"].tolist() == [60, 60]


def test_the_last_of_several_versions_of_annotations_is_read(tmp_path):
    image = {"id": 1, "file_name": "a.jpg"}
    files = {}
    for version, category in (("v1.2", 1), ("v2.0", 2)):
        segments = [{"id": 5, "category_id": category}]
        annotation = {"image_id": 1, "file_name": "a.png", "segments_info": segments}
        files[f"val/{version}/panoptic/panoptic.json"] = panoptic([image], annotation)
    data = read_files(tmp_path, files)
    assert rows(data) == {"a.jpg": ["van"]}
    assert any("v1.2/panoptic/panoptic.json" in note for note in data.notes)


def test_layers_of_ade20k_are_no_images(tmp_path):
    about = {"filename": "a.jpg", "imsize": [40, 60, 3], "object": []}
    for name in ("a.jpg", "a_seg.png", "a_parts_1.png", "b.jpg"):
        Image.new("RGB", (60, 40)).save(tmp_path / name)
    data = read_files(tmp_path, {"a.json": {"annotation": about}})
    assert sorted(data.images["id"]) == ["a.jpg", "b.jpg"]


def test_frames_of_two_videos_are_never_one_image(tmp_path):
    frames = [
        {"name": "0001.jpg", "videoName": video, "labels": [{"category": name, "box2d": BOX}]}
        for video, name in (("north", "car"), ("south", "bus"))
    ]
    data = read_files(tmp_path, {"labels.json": {"frames": frames}}, "labels.json")
    assert rows(data) == {"north/0001.jpg": ["car"], "south/0001.jpg": ["bus"]}
