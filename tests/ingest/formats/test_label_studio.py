"""Label Studio: what people answered is read, whatever the order of results and the data's keys."""

import pytest
from PIL import Image

from cobalance.base.errors import InputError
from tests.ingest.tool_files import boxes, read_files, rows

SIZE = {"original_width": 200, "original_height": 100, "to_name": "pic"}
SIDES = {"x": 10, "y": 10, "width": 20, "height": 40, "rotation": 0}
BOX = [20, 10, 40, 40]


def region(id_, kind="rectanglelabels", sides=SIDES, **value):
    return {**SIZE, "id": id_, "from_name": "what", "type": kind, "value": {**sides, **value}}


def task(*results, number=1, **data):
    annotations = [{"id": 5, "was_cancelled": False, "result": list(results)}]
    return {"id": number, "data": data, "annotations": annotations}


def read(tmp_path, *tasks):
    return read_files(tmp_path, {"tasks.json": list(tasks)}, "tasks.json")


def test_a_relation_between_regions_stops_nothing(tmp_path):
    relation = {"type": "relation", "from_id": "a", "to_id": "b", "labels": ["rides"]}
    results = region("a", rectanglelabels=["rider"]), relation, region("b", rectanglelabels=["ox"])
    data = read(tmp_path, task(*results, image="/data/upload/1/farm.jpg"))
    assert rows(data) == {"farm.jpg": ["ox", "rider"]}


def test_a_rectangle_and_its_labels_are_one_object(tmp_path):
    label = region("a", "labels", labels=["kettle"])
    data = read(tmp_path, task(region("a", "rectangle"), label, image="a.jpg"))
    assert rows(data) == {"a.jpg": ["kettle"]}
    assert boxes(data, "kettle") == [BOX]


def test_answers_before_their_region_are_of_the_region(tmp_path):
    def choice(id_, colour):
        return region(id_, "choices", choices=[colour]) | {"from_name": "ripe"}

    apple, pear = region("a", rectanglelabels=["apple"]), region("b", rectanglelabels=["pear"])
    first = task(choice("a", "green"), choice("b", "red"), apple, pear, image="a.jpg")
    second = task(apple, choice("a", "red"), image="b.jpg", number=2)
    data = read(tmp_path, first, second)
    assert rows(data) == {
        "a.jpg": ["apple", "pear", "ripe: green", "ripe: red"],
        "b.jpg": ["apple", "ripe: red"],
    }
    assert boxes(data, "ripe: red") == [BOX, BOX]


def test_a_region_that_is_classified_has_its_answers_alone(tmp_path):
    choice = region("a", "choices", choices=["green"]) | {"from_name": "ripe"}
    data = read(tmp_path, task(region("a", "rectangle"), choice, image="a.jpg"))
    assert rows(data) == {"a.jpg": ["ripe: green"]}


def test_answers_of_no_region_are_of_the_image(tmp_path):
    def answer(question, kind, value):
        return {"from_name": question, "to_name": "pic", "type": kind, "value": {kind: value}}

    tasks = [
        task(answer("quality", "rating", number % 2), answer("sky", "choices", colours),
             answer("kind", "taxonomy", [["park", ("lawn", "pond")[number % 2]]]),
             image=f"{number}.jpg", number=number)
        for number, colours in enumerate([["blue", "clouded"], ["blue"]] * 4)
    ]  # fmt: skip
    data = read(tmp_path, *tasks)
    assert rows(data)["0.jpg"] == ["kind: park/lawn", "sky: blue", "sky: clouded"]
    assert rows(data)["1.jpg"] == ["kind: park/pond", "quality", "sky: blue"]


def test_the_picture_is_the_key_whose_values_differ_and_end_as_pictures_do(tmp_path):
    tasks = [
        task(region("a", rectanglelabels=["bench"]), number=number, logo="https://x.org/logo.png",
             town=f"town {number}", photo=f"s3://parks/{number:03}.jpg")
        for number in (1, 2, 3)
    ]  # fmt: skip
    assert list(rows(read(tmp_path, *tasks))) == [f"s3://parks/00{number}.jpg" for number in "123"]


def test_several_pictures_of_a_task_are_an_image_each(tmp_path):
    front = region("a", rectanglelabels=["door"]) | {"item_index": 0}
    back = region("b", rectanglelabels=["window"]) | {"item_index": 1}
    data = read(tmp_path, task(front, back, pages=["front.jpg", "back.jpg"]))
    assert rows(data) == {"front.jpg": ["door"], "back.jpg": ["window"]}


def test_tags_that_are_called_as_the_data_tell_pictures_apart(tmp_path):
    left = region("a", rectanglelabels=["door"]) | {"to_name": "left"}
    right = region("b", rectanglelabels=["window"]) | {"to_name": "right"}
    data = read(tmp_path, task(left, right, left="l.jpg", right="r.jpg"))
    assert rows(data) == {"l.jpg": ["door"], "r.jpg": ["window"]}


def test_tags_that_do_not_tell_pictures_apart_are_an_error(tmp_path):
    left = region("a", rectanglelabels=["door"]) | {"to_name": "one"}
    right = region("b", rectanglelabels=["window"]) | {"to_name": "two"}
    with pytest.raises(InputError, match=r"several pictures \(left, right\)"):
        read(tmp_path, task(left, right, left="l.jpg", right="r.jpg"))


def test_names_in_local_files_are_decoded(tmp_path):
    address = "/data/local-files/?d=photos/caf%C3%A9%20one.png"
    data = read(tmp_path, task(region("a", rectanglelabels=["cup"]), image=address))
    assert rows(data) == {"photos/café one.png": ["cup"]}


def test_ellipses_polygons_points_and_brushes(tmp_path):
    data = read(
        tmp_path,
        task(
            region("a", "ellipselabels", {"x": 50, "y": 50, "radiusX": 10, "radiusY": 20},
                   ellipselabels=["coin"]),
            region("b", "polygonlabels", {"points": [[0, 0], [10, 0], [10, 10]]},
                   polygonlabels=["roof"]),
            region("c", "keypointlabels", {"x": 50, "y": 50, "width": 1}, keypointlabels=["nose"]),
            region("d", "brushlabels", {"rle": [1, 2], "format": "rle"}, brushlabels=["sky"]),
            image="a.jpg",
        ),
    )  # fmt: skip
    assert boxes(data, "coin") == [[80, 30, 40, 40]]
    assert boxes(data, "roof") == [[0, 0, 20, 10]]
    assert boxes(data, "nose") == [[100, 50, 0, 0]]
    assert rows(data) == {"a.jpg": ["coin", "nose", "roof", "sky"]}
    outlined = data.mentions["segmentation"].notna()
    assert data.mentions["concept"][outlined].tolist() == ["coin", "roof"]


def test_rectangles_of_a_video_are_seen_in_their_frames(tmp_path):
    sequence = [{"frame": 1, "enabled": True, **SIDES}, {"frame": 3, "enabled": False, **SIDES}]
    value = {"framesCount": 4, "sequence": sequence, "labels": ["cart"]}
    result = {**SIZE, "id": "a", "from_name": "v", "type": "videorectangle", "value": value}
    data = read(tmp_path, task(result, video="/data/upload/1/road.mp4"))
    assert list(rows(data).values()) == [["cart"], ["cart"], ["cart"], []]
    assert boxes(data, "cart") == [BOX] * 3
    assert data.images["uri"].tolist()[0] == "road.mp4#frame=0"


def test_regions_of_json_min_that_nobody_labelled_name_nothing(tmp_path):
    about = {"annotator": 1, "annotation_id": 7, "lead_time": 3.5}
    sides = {**SIDES, "original_width": 200, "original_height": 100}
    data = read_files(
        tmp_path,
        {
            "min.json": [
                {"photo": "a.jpg", "id": 1, **about, "box": [sides], "sky": "blue",
                 "ripe": [{**sides, "choices": ["green"]}],
                 "what": [{**sides, "rectanglelabels": ["apple"]}]},
                {"photo": "b.jpg", "id": 2, **about, "box": [sides], "sky": {"choices": ["grey"]}},
            ]
        },
        "min.json",
    )  # fmt: skip
    assert rows(data) == {"a.jpg": ["apple", "ripe: green", "sky: blue"], "b.jpg": ["sky: grey"]}
    assert boxes(data, "ripe: green") == [BOX]


def test_pages_of_a_repeater_are_images(tmp_path):
    second = region("a", rectanglelabels=["door"]) | {"to_name": "page_1"}
    pages = [{"url": "https://x.org/1.jpg"}, {"url": "https://x.org/2.jpg"}]
    data = read(tmp_path, task(second, pages=pages))
    assert rows(data) == {"https://x.org/1.jpg": [], "https://x.org/2.jpg": ["door"]}


def test_tasks_of_texts_are_no_images(tmp_path):
    answer = {"from_name": "mood", "to_name": "text", "type": "choices",
              "value": {"choices": ["glad"]}}  # fmt: skip
    with pytest.raises(InputError, match="none of its data"):
        read(tmp_path, task(answer, text="A fine day."))


def test_regions_without_a_size_are_those_of_the_picture(tmp_path):
    kept = {"from_name": "what", "to_name": "pic", "type": "rectanglelabels", "id": "a"}
    result = {**kept, "value": {**SIDES, "rectanglelabels": ["apple"]}}
    Image.new("RGB", (200, 100)).save(tmp_path / "a.jpg")
    data = read_files(tmp_path, {"tasks.json": [task(result, image="a.jpg")]})
    assert boxes(data, "apple") == [BOX]
    assert data.images["width_px"].tolist() == [200]
