"""JSON of published datasets: BDD100K, Cityscapes, Vistas, CLEVR, ADE20K, COCO panoptic."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import msgspec

from cobalance.ingest.coco import is_coco
from cobalance.ingest.collector import VIDEO
from cobalance.ingest.formats.json_records import (
    Source,
    box_place,
    corners_place,
    decodable,
    decode_file,
    json_reader,
    pairs,
)
from cobalance.ingest.formats.tool_reader import Picture, Read, Records, ToolReader
from cobalance.ingest.reader import formats_of
from cobalance.ingest.trees import FileTree
from cobalance.vision import Point, place_of, place_of_parts

_GROUP = "group"  # ends Cityscapes' labels of several objects


def _scalabel(frame: Any, beside: Mapping[str, Any], _file: str) -> Picture:
    size = (beside.get("config") or {}).get("imageSize") or frame.get("size") or {}
    picture = Picture(frame["name"], size.get("width"), size.get("height"))
    picture.metadata = dict(frame.get("attributes") or {})

    if frame.get("videoName"):
        picture.metadata[VIDEO] = frame["videoName"]
        picture.full_name = f"{frame['videoName']}/{picture.name}"
    _show(frame.get("labels"), picture)

    return picture


def _bdd(record: Any, _beside: Mapping[str, Any], _file: str) -> Iterator[Picture]:
    """The image of a file of BDD100K's first release, whose objects are in a frame."""
    frames = record["frames"]
    for frame in frames:
        name = record["name"]
        if len(frames) > 1:
            name = f"{name}/{frame['timestamp']}"
        picture = Picture(name, metadata=dict(record.get("attributes") or {}))
        picture.file = f"{name}.jpg"
        _show(frame["objects"], picture)
        yield picture


def _show(labels: Any, picture: Picture) -> None:
    """Add labels of Scalabel, without the ignored ones."""
    for label in labels or ():
        attributes = dict(label.get("attributes") or {})
        if attributes.pop("ignored", False) or label.get("category") is None:
            continue

        place: dict[str, Any] = {}
        if attributes.pop("crowd", False):
            place["crowd"] = True
        if shapes := label.get("poly2d"):
            place |= _place_of_shapes(shapes)
        if box := label.get("box2d"):
            place |= corners_place(box["x1"], box["y1"], box["x2"], box["y2"])
        picture.add(label["category"], place, attributes)


def _place_of_shapes(shapes: Sequence[Any]) -> dict[str, Any]:
    """Place of an object of several shapes, all of which Scalabel paints; lines have no area."""
    # BDD100K's first release has the points of one shape.
    if not isinstance(shapes[0], dict):
        return place_of([(x, y) for x, y, *_ in shapes])

    points, closed = list[Point](), list[list[Point]]()
    for shape in shapes:
        part = [(x, y) for x, y, *_ in shape["vertices"]]
        points += part
        if shape.get("closed"):
            closed.append(part)

    return place_of_parts(closed, cuts_holes=False) | place_of(points, is_area=False)


def _cityscapes(record: Any, _beside: Mapping[str, Any], file: str) -> Picture:
    """An image of Cityscapes, CityPersons or Cityscapes 3D, without deleted objects."""
    picture = Picture(file.partition("_gt")[0], record["imgWidth"], record["imgHeight"])
    picture.file = f"{picture.name}_leftImg8bit.png"

    for figure in record["objects"]:
        label, place = figure["label"], dict[str, Any]()
        if figure.get("deleted") or label == "ignore":
            continue
        if "polygon" in figure:
            place = place_of(pairs(figure["polygon"]))
        elif box := figure.get("bbox") or figure.get("2d", {}).get("amodal"):
            place = box_place(*box)

        # A group is of the label before the word, as cityscapesScripts counts it.
        if label.endswith(_GROUP) and label != _GROUP:
            label, place["crowd"] = label.removesuffix(_GROUP), True
        picture.add(label, place)

    return picture


def _vistas(record: Any, _beside: Mapping[str, Any], file: str) -> Picture:
    """An image of Mapillary Vistas 2.0."""
    picture = Picture(file, record["width"], record["height"], file=f"{file}.jpg")
    for figure in record["objects"]:
        picture.add(figure["label"], place_of(pairs(figure["polygon"])))
    return picture


def _clevr(scene: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    picture = Picture(scene["image_filename"], split=scene.get("split"))
    for thing in scene["objects"]:
        picture.add(
            thing["shape"], {}, {name: thing[name] for name in ("color", "material", "size")}
        )
    return picture


class _Annotated(msgspec.Struct):
    image_id: int | str | None = None


def _panoptic_records(file: str, read: Read) -> Records:
    """Images with and without annotations."""
    source = Source(key="annotations", beside=("categories", "images"))
    records, beside = decode_file(source, read(file))
    names = dict(map(itemgetter("id", "name"), beside["categories"]))
    images = {image["id"]: image for image in beside.get("images") or ()}

    for number, record in records.items():
        yield f"[{number}]", partial(_panoptic, record, names, images)

    annotated = {record.image_id for record in decodable(records.values(), _Annotated)}
    for number, image in images.items():
        if number not in annotated:
            yield f"images, id {number}", partial(_image, image)


def _panoptic(record: msgspec.Raw, names: Mapping[Any, str], images: Mapping[Any, Any]) -> Picture:
    """An image with its segments; the annotation names the PNG of these, and not the image."""
    annotation = msgspec.json.decode(record)
    # Without a list of images they are called as their PNG.
    image = images.get(annotation.get("image_id"))
    if image is None:
        image = {"file_name": annotation["file_name"].removesuffix(".png") + ".jpg"}
    picture = _image(image)

    for segment in annotation["segments_info"]:
        place: dict[str, Any] = {}
        if segment.get("bbox"):
            place |= box_place(*segment["bbox"])
        if segment.get("iscrowd"):
            place["crowd"] = True
        picture.add(names[segment["category_id"]], place)

    return picture


def _image(image: Any) -> Picture:
    return Picture(image["file_name"], image.get("width"), image.get("height"))


def _ade20k(record: Any, _beside: Mapping[str, Any], _file: str) -> Picture:
    """An image of the full ADE20K, with its objects and their parts."""
    about = record["annotation"]
    height, width, *_ = about.get("imsize") or (None, None)
    picture = Picture(about["filename"], width, height)
    scene = list(filter(None, about.get("scene") or ()))
    picture.metadata = {"scene": scene}

    for thing in about["object"]:
        polygon = thing["polygon"]
        points = list(zip(polygon["x"], polygon["y"], strict=True))
        picture.add(thing["name"], place_of(points))

    return picture


class _CocoPanoptic(ToolReader):
    """Reader of COCO panoptic; beside a file of instances, which has more, it is not read."""

    def detects_tree(self, tree: FileTree) -> bool:
        instances = [name for name in tree.below("", ".json") if "instances" in name]
        return super().detects_tree(tree) and not any(map(is_coco, map(tree.outline, instances)))


PLUGINS = formats_of(
    {
        "coco-panoptic": _CocoPanoptic(
            "COCO panoptic", (), _panoptic_records, keys=("/annotations.segments_info",)
        ),
        "cityscapes": json_reader("Cityscapes", _cityscapes, "imgHeight", "imgWidth", "objects"),
        "clevr": json_reader(
            "CLEVR", _clevr, "scenes", "image_filename", "3d_coords", key="scenes"
        ),
        "scalabel": json_reader(
            "Scalabel, BDD100K",
            _scalabel,
            "labels",
            "category",
            "box2d",
            key="frames",
            beside=("config",),
        ),
        "bdd": json_reader(
            "BDD100K, a file an image", _bdd, "/name", "/frames.timestamp", "/frames.objects"
        ),
        "mapillary-vistas": json_reader(
            "Mapillary Vistas 2.0",
            _vistas,
            "/width",
            "/height",
            "/objects.polygon",
            "/objects.label",
        ),
        "ade20k": json_reader(
            "ADE20K, a file an image", _ade20k, "/annotation.imsize", "/annotation.object"
        ),
    }
)
