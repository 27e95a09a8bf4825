"""Darwin: properties are read, raster layers are not, and videos are their frames."""

from tests.ingest.tool_files import boxes, read_files, rows

BOX = {"x": 1, "y": 2, "w": 9, "h": 8}


def item(name, annotations, slots=({},), **more):
    """A file of Darwin JSON 2.0."""
    slots = [
        {"type": "image", "slot_name": str(number), "width": 32, "height": 24, **slot}
        for number, slot in enumerate(slots)
    ]
    about = {"name": name, "path": "/", "slots": slots}
    return {"version": "2.0", "item": about, "annotations": annotations, **more}


def thing(name, slot="0", **shape):
    return {"id": name, "name": name, "slot_names": [slot], **shape}


def read(tmp_path, *items):
    return read_files(tmp_path, {f"{number}.json": one for number, one in enumerate(items)})


def test_the_container_of_masks_is_nothing_that_is_seen(tmp_path):
    layer = thing("__raster_layer__", raster_layer={"dense_rle": [0, 768]})
    data = read(tmp_path, item("a.png", [layer, thing("weed", mask={})]))
    assert rows(data) == {"a.png": ["weed"]}


def test_properties_of_items_and_objects_are_read(tmp_path):
    def weathered(name, weather, *colours):
        answers = [{"name": "colour", "value": colour} for colour in colours]
        shown = thing("apple", bounding_box=BOX, properties=answers)
        return item(name, [shown], properties=[{"name": "weather", "value": weather}])

    data = read(tmp_path, weathered("a.png", "rain", "red", "green"), weathered("b.png", "sun"))
    assert rows(data) == {
        "a.png": ["apple", "colour: green", "colour: red", "weather: rain"],
        "b.png": ["apple", "weather: sun"],
    }
    assert boxes(data, "colour: red") == [[1, 2, 9, 8]]


def test_an_object_of_a_video_is_in_its_ranges_alone(tmp_path):
    def followed(name, start, end, boxes, **more):
        frames = {
            str(frame): {"bounding_box": dict(zip("xywh", box, strict=True)), "keyframe": True}
            for frame, box in boxes.items()
        }
        return {"id": name, "name": name, "ranges": [[start, end]], "frames": frames, **more}

    video = {"type": "video", "frame_count": 6}
    hull = followed("hull", 0, 3, {0: (0, 0, 4, 4), 2: (8, 0, 4, 4)}, interpolated=True)
    gull = followed("gull", 4, 5, {4: (1, 1, 2, 2)})
    data = read(tmp_path, item("clip.mp4", [hull, gull], [video]))
    assert list(rows(data).values()) == [["hull"], ["hull"], ["hull"], [], ["gull"], []]
    assert boxes(data, "hull") == [[0, 0, 4, 4], [4, 0, 4, 4], [8, 0, 4, 4]]
    assert data.images["uri"][4] == "clip.mp4#frame=4"
    assert data.images["id"][4] == "clip.mp4/0000004.png"


def test_slots_of_an_item_are_images(tmp_path):
    slots = [{"source_files": [{"file_name": "left.png"}]}, {}]
    left, right = thing("cup", "0", tag={}), thing("plate", "1", bounding_box=BOX)
    data = read(tmp_path, item("pair", [left, right], slots))
    assert rows(data) == {"left.png": ["cup"], "pair/1": ["plate"]}


def test_shapes_have_an_extent(tmp_path):
    spot = {"x": 4, "y": 5}
    ellipse = {"center": {"x": 10, "y": 10}, "radius": {"x": 5, "y": 2}, "angle": 0}
    path = [{"x": 1, "y": 1}, {"x": 7, "y": 3}]
    shapes = [
        thing("coin", ellipse=ellipse),
        thing("nose", keypoint=spot),
        thing("wire", line={"path": path}),
        thing("cat", skeleton={"nodes": [{"name": "a", **spot}, {"name": "b", "x": 9, "y": 9}]}),
    ]
    data = read(tmp_path, item("a.png", shapes))
    assert boxes(data, "coin") == [[5, 8, 10, 4]]
    assert boxes(data, "nose") == [[4, 5, 0, 0]]
    assert boxes(data, "wire") == [[1, 1, 6, 2]]
    assert boxes(data, "cat") == [[4, 5, 5, 4]]


def test_items_of_one_name_are_told_apart_by_their_folders(tmp_path):
    items = [item("a.png", [thing(name, tag={})]) for name in ("cup", "plate")]
    for written, folder in zip(items, ("/north", "/south"), strict=True):
        written["item"]["path"] = folder
    assert rows(read(tmp_path, *items)) == {"north/a.png": ["cup"], "south/a.png": ["plate"]}
