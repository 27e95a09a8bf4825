"""Pictures with masks: the values of a mask are what its image shows."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from cobalance.base.errors import InputError
from cobalance.ingest.formats import semantic_masks
from cobalance.ingest.load import detect_format, read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.vision import mask

SIZE = (48, 32)


def save(path, pixels, palette=None, mode=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(pixels)
    if palette is not None:
        image = image.convert("L")
        image.putpalette(palette)
    if mode is not None:
        image = image.convert(mode)
    image.save(path)


def photograph(path, seed=0):
    pixels = np.random.default_rng(seed).integers(0, 256, (SIZE[1], SIZE[0], 3))
    save(path, pixels.astype(np.uint8))


def draw(seed, values):
    """A mask of rectangles, in which some values may be missing."""
    random = np.random.default_rng(seed)
    pixels = np.full((SIZE[1], SIZE[0]), values[0], dtype=np.uint8)
    for value in random.choice(values, 4):
        x, y = random.integers(0, SIZE[0] - 8), random.integers(0, SIZE[1] - 8)
        pixels[y : y + 8, x : x + 8] = value
    return pixels


def shown(annotations):
    """Concepts by image."""
    return {record.uri: set(record.concepts) for record in annotations.records()}


def counts(masks, names):
    """In how many masks each named value is."""
    images = {
        name: sum((pixels == value).any() for pixels in masks) for value, name in names.items()
    }
    return {name: count for name, count in images.items() if count}


def counted(annotations):
    concepts = annotations.mentions.drop_duplicates(["image", "concept"])["concept"]
    return {name: count for name, count in concepts.value_counts().to_dict().items() if count}


def colours(pixels, palette):
    return np.array(palette, dtype=np.uint8)[pixels]


def test_cityscapes_label_ids_are_named_and_those_beside_are_left_out(tmp_path):
    names = {7: "road", 11: "building", 24: "person", 26: "car", 1: "ego vehicle"}
    masks = []
    for number in range(6):
        city, split = ("ulm", "train") if number % 2 else ("bonn", "val")
        pixels = draw(number, [0, 1, 7, 11, 24, 26])
        masks.append(pixels)
        stem = f"{split}/{city}/{city}_000000_{number:06}"
        photograph(tmp_path / f"leftImg8bit/{stem}_leftImg8bit.png", number)
        save(tmp_path / f"gtFine/{stem}_gtFine_labelIds.png", pixels)
        save(tmp_path / f"gtFine/{stem}_gtFine_instanceIds.png", pixels * 9)
        save(tmp_path / f"gtFine/{stem}_gtFine_color.png", colours(pixels, [[9, 9, 9]] * 256))

    data = read_annotations(tmp_path)
    assert counted(data) == counts(masks, names)
    assert data.images["split"].value_counts().to_dict() == {"train": 3, "val": 3}
    assert all(uri.startswith("leftImg8bit/") for uri in data.images["uri"])
    assert any("18 pictures in gtFine are masks" in note for note in data.notes)


def test_pascal_voc_masks_have_its_names_by_index_and_edges_are_nothing(tmp_path):
    palette = [0] * 768
    masks = []
    for number in range(5):
        pixels = draw(number, [0, 1, 15, 20, 255])
        masks.append(pixels)
        photograph(tmp_path / f"JPEGImages/2007_{number:06}.jpg", number)
        save(tmp_path / f"SegmentationClass/2007_{number:06}.png", pixels, palette)
        save(tmp_path / f"SegmentationObject/2007_{number:06}.png", pixels, palette)
    photograph(tmp_path / "JPEGImages/2008_000001.jpg", 9)
    (tmp_path / "ImageSets/Segmentation").mkdir(parents=True)
    (tmp_path / "ImageSets/Segmentation/train.txt").write_text("2007_000000\n2007_000001\n")

    data = read_annotations(tmp_path)
    assert counted(data) == counts(masks, {1: "aeroplane", 15: "person", 20: "tvmonitor"})
    assert len(data.images) == 5
    assert data.images["split"].notna().sum() == 2
    assert any("1 image without a mask left out" in note for note in data.notes)


def test_colours_of_pascal_voc_are_read_too(tmp_path):
    pixels = np.zeros((SIZE[1], SIZE[0], 3), dtype=np.uint8)
    pixels[:4, :4], pixels[:2, :4] = (192, 128, 128), (224, 224, 192)
    photograph(tmp_path / "JPEGImages/1.jpg")
    save(tmp_path / "SegmentationClass/1.png", pixels)
    data = read_annotations(tmp_path)
    assert shown(data) == {"JPEGImages/1.jpg": {"person"}}
    assert data.mentions["area_px2"].tolist() == [8]


def test_ade20k_is_named_by_its_list_and_0_is_nothing(tmp_path):
    rows = ["Idx\tRatio\tTrain\tVal\tStuff\tName", "1\t0.1\t9\t1\t1\twall", "2\t0.1\t9\t1\t1\tdoor"]
    (tmp_path / "objectInfo150.txt").write_text("\n".join(rows))
    masks = []
    for number in range(6):
        folder = "validation" if number > 3 else "training"
        masks.append(draw(number, [0, 1, 2]))
        photograph(tmp_path / f"images/{folder}/ADE_{number:08}.jpg", number)
        save(tmp_path / f"annotations/{folder}/ADE_{number:08}.png", masks[-1])

    data = read_annotations(tmp_path)
    assert counted(data) == counts(masks, {1: "wall", 2: "door"})
    assert data.images["split"].value_counts().to_dict() == {"train": 4, "val": 2}


def test_camvid_is_named_by_colours_and_void_is_nothing(tmp_path):
    palette = [[0, 0, 0], [64, 128, 64], [192, 0, 128], [128, 64, 128]]
    names = ["Void", "Animal", "Archway", "Road"]
    lines = [f"{r} {g} {b}\t\t{name}" for (r, g, b), name in zip(palette, names, strict=True)]
    (tmp_path / "label_colors.txt").write_text("\n".join(lines) + "\n")
    masks = []
    for number in range(5):
        masks.append(draw(number, [0, 1, 2, 3]))
        photograph(tmp_path / f"701_StillsRaw_full/0001TP_{number:06}.png", number)
        save(
            tmp_path / f"LabeledApproved_full/0001TP_{number:06}_L.png",
            colours(masks[-1], palette),
        )

    data = read_annotations(tmp_path)
    assert counted(data) == counts(masks, {1: "Animal", 2: "Archway", 3: "Road"})


@pytest.mark.parametrize("file", ["class_dict.csv", "labelmap.csv", "sub/class_dict_seg.csv"])
def test_a_folder_of_kaggle_is_named_by_its_table(tmp_path, file):
    palette = [[2, 0, 0], [60, 16, 152], [132, 41, 246]]
    names = ["Unlabeled", "Building", "Land, bare"]
    rows = [f'"{name}", {r}, {g}, {b}' for (r, g, b), name in zip(palette, names, strict=True)]
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("name, r, g, b\n" + "\n".join(rows))
    masks = []
    for number in range(5):
        masks.append(draw(number, [0, 1, 2]))
        photograph(tmp_path / f"images/{number:03}.jpg", number)
        save(tmp_path / f"masks/{number:03}.png", colours(masks[-1], palette))

    data = read_annotations(tmp_path)
    assert counted(data) == counts(masks, {1: "Building", 2: "Land, bare"})


def test_a_region_has_its_pixels_its_box_and_its_outline(tmp_path):
    pixels = draw(3, [0, 1, 2, 3])
    photograph(tmp_path / "images/a.jpg")
    save(tmp_path / "masks/a.png", pixels)
    (tmp_path / "class_names.txt").write_text("background\nroof\ntree\nlawn\n")

    data = read_annotations(tmp_path)
    assert data.images[["width_px", "height_px"]].iloc[0].tolist() == [*SIZE]
    for row in data.mentions.to_dict("records"):
        inside = pixels == ["background", "roof", "tree", "lawn"].index(row["concept"])
        assert row["area_px2"] == inside.sum()
        assert (mask(row["segmentation"], *SIZE) == inside).all()
        ys, xs = np.nonzero(inside)
        assert (row["x_px"], row["y_px"]) == (xs.min(), ys.min())
        assert (row["w_px"], row["h_px"]) == (np.ptp(xs) + 1, np.ptp(ys) + 1)


def test_datumaro_and_cvat_files_of_names(tmp_path):
    pixels = draw(1, [0, 1, 2])
    palette = [[0, 0, 0], [250, 50, 83], [51, 221, 255]]
    meta = {
        "label_map": {"0": "Void", "1": "dock", "2": "quay"},
        "segmentation_colors": palette,
    }
    lines = (
        "# label:color_rgb:parts:actions\nbackground:0,0,0::\ndock:250,50,83::\nquay:51,221,255::"
    )
    for name, file, text in (
        ("datumaro", "dataset_meta.json", json.dumps(meta)),
        ("cvat", "labelmap.txt", lines),
    ):
        folder = tmp_path / name
        photograph(folder / "images/image_1.jpg")
        save(folder / "masks/gt_1.png", colours(pixels, palette))
        photograph(folder / "images/image_2.jpg")
        save(folder / "masks/gt_2.png", pixels, [part for colour in palette for part in colour])
        (folder / file).write_text(text)
        data = read_annotations(folder)
        assert {"dock", "quay"} & {*data.mentions["concept"]}
        by_image = [names - {"background"} for names in shown(data).values()]
        assert by_image[0] == by_image[1]


def test_names_of_an_option_in_16_bits_and_one_bit(tmp_path):
    wide = np.zeros((SIZE[1], SIZE[0]), dtype=np.uint16)
    wide[3:9, 2:5] = 1200
    photograph(tmp_path / "images/a.jpg")
    save(tmp_path / "masks/a.tif", wide)
    photograph(tmp_path / "images/b.jpg")
    save(tmp_path / "masks/b.png", (wide > 0).astype(np.uint8) * 255, mode="1")
    options = ReadOptions(names={"masks": {"1200": "hull", "1": "mast"}})
    data = read_annotations(tmp_path, options)
    assert shown(data) == {"images/a.jpg": {"hull"}, "images/b.jpg": {"mast"}}


def test_masks_without_names_say_which_values_they_have(tmp_path):
    photograph(tmp_path / "images/a.jpg")
    save(tmp_path / "masks/a.png", draw(1, [0, 4, 9]) % 10)
    with pytest.raises(InputError, match=r"in masks whose values \(0, 4, 9\).*class_names\.txt"):
        read_annotations(tmp_path)
    data = read_annotations(tmp_path, input_format="image-folder")
    assert data.images["uri"].tolist() == ["images/a.jpg"]


def test_values_that_the_names_lack_are_said(tmp_path):
    for name, values in (("a", [0, 1]), ("b", [0, 1, 7])):
        photograph(tmp_path / f"images/{name}.jpg")
        save(tmp_path / f"masks/{name}.png", draw(2, values))
    (tmp_path / "labels.txt").write_text("background\nroof\n")
    (tmp_path / "classes.txt").write_text("background\nroof\n")
    with pytest.raises(InputError, match=r"masks/b\.png: has values.*does not name \(7 "):
        read_annotations(tmp_path)
    data = read_annotations(tmp_path, ReadOptions(on_error="skip"))
    assert data.images["uri"].tolist() == ["images/a.jpg"]


@pytest.mark.parametrize("ending", ["png", "jpg"])
def test_black_and_white_masks_have_one_thing_however_white_is_written(tmp_path, ending):
    pixels = draw(1, [0, 255])
    photograph(tmp_path / "images/a.jpg")
    save(tmp_path / f"masks/a.{ending}", pixels)
    for names in ({"1": "polyp"}, {"255": "polyp"}):
        data = read_annotations(tmp_path, ReadOptions(names={"masks": names}))
        assert shown(data) == {"images/a.jpg": {"polyp"}}


def test_a_photograph_is_no_mask(tmp_path, monkeypatch):
    monkeypatch.setattr("cobalance.vision.images.label_maps.MOST_RUNS", 100)
    photograph(tmp_path / "images/a.jpg")
    photograph(tmp_path / "masks/a.png")
    with pytest.raises(InputError, match=r"masks/a\.png: cannot be read as a mask .*100 runs"):
        read_annotations(tmp_path, ReadOptions(names={"masks": {"1": "x"}}))


def test_a_read_that_was_interrupted_goes_on_where_it_ended(tmp_path, monkeypatch):
    (tmp_path / "classes.txt").write_text("background\nroof\n")
    for number in range(40):
        photograph(tmp_path / f"images/{number:02}.jpg", number)
        save(tmp_path / f"masks/{number:02}.png", draw(number, [0, 1]))

    opened = []
    read = semantic_masks.read_label_map

    def count(content):
        opened.append(content)
        return read(content)

    def stop(stage, done, total):
        if done == 32:
            raise KeyboardInterrupt

    monkeypatch.setattr(semantic_masks, "read_label_map", count)
    with pytest.raises(KeyboardInterrupt):
        read_annotations(tmp_path, progress=stop)
    assert len(opened) == 32
    whole = read_annotations(tmp_path)
    assert len(opened) == 40

    # One that has changed is read again, and what was read is the same.
    save(tmp_path / "masks/07.png", np.ones((SIZE[1], SIZE[0] + 1), dtype=np.uint8))
    again = read_annotations(tmp_path)
    assert len(opened) == 41
    assert shown(again) == shown(whole) | {"images/07.jpg": {"roof"}}


def test_a_cache_that_cannot_be_used_is_none(tmp_path, cache):
    (tmp_path / "classes.txt").write_text("background\nroof\n")
    photograph(tmp_path / "images/a.jpg")
    save(tmp_path / "masks/a.png", draw(5, [0, 1]))
    first = shown(read_annotations(tmp_path))
    for part in cache.rglob("*.msgpack"):
        part.write_bytes(b"\x93broken")
    assert shown(read_annotations(tmp_path)) == first


def test_boxes_beside_masks_are_read_and_masks_are_not(tmp_path):
    photograph(tmp_path / "JPEGImages/1.jpg")
    save(tmp_path / "SegmentationClass/1.png", draw(1, [0, 15]))
    (tmp_path / "Annotations").mkdir()
    (tmp_path / "Annotations/1.xml").write_text(
        "<annotation><filename>1.jpg</filename><object><name>sofa</name><bndbox><xmin>1</xmin>"
        "<ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object></annotation>"
    )
    data = read_annotations(tmp_path)
    assert {*data.mentions["concept"]} == {"sofa"}
    assert any("SegmentationClass" in note and "not read" in note for note in data.notes)


def test_masks_alone_are_of_images_that_are_elsewhere(tmp_path):
    """As CVAT exports them: labelmap.txt, and a list of names in ImageSets."""
    palette = [[0, 0, 0], [250, 50, 83], [51, 221, 255]]
    lines = ["# label:color_rgb:parts:actions", "background:0,0,0::", "dock:250,50,83::"]
    (tmp_path / "labelmap.txt").write_text("\n".join(lines))
    for name in ("a", "b"):
        pixels = draw(1, [0, 1]) * (name == "a")
        save(tmp_path / f"SegmentationClass/{name}.png", colours(pixels, palette))
        save(tmp_path / f"SegmentationObject/{name}.png", colours(pixels, palette))
    save(tmp_path / "SegmentationClass/a.png", colours(draw(1, [0, 1]), palette))
    (tmp_path / "ImageSets/Segmentation").mkdir(parents=True)
    (tmp_path / "ImageSets/Segmentation/train.txt").write_text("a\n")

    data = read_annotations(tmp_path)
    assert data.images["uri"].isna().all()
    assert counted(data) == {"background": 2, "dock": 1}
    assert [record.split for record in data.records()] == ["train", None]
    assert any("has masks alone" in note for note in data.notes)


def test_two_files_of_names_that_differ_are_refused(tmp_path):
    for name, words in (("a", "background\nroof"), ("b", "background\nroad")):
        photograph(tmp_path / f"{name}/images/{name}.jpg")
        save(tmp_path / f"{name}/masks/{name}.png", draw(1, [0, 1]))
        (tmp_path / f"{name}/classes.txt").write_text(words)
    with pytest.raises(InputError, match=r"in a/classes\.txt and otherwise in b/classes\.txt"):
        read_annotations(tmp_path)
    assert "roof" in shown(read_annotations(tmp_path / "a"))["images/a.jpg"]


def test_names_of_labelme_begin_with_what_is_ignored(tmp_path):
    (tmp_path / "labels.txt").write_text("__ignore__\n_background_\nhull\nmast\n")
    photograph(tmp_path / "JPEGImages/a.jpg")
    save(tmp_path / "SegmentationClass/a.png", draw(1, [0, 2]))
    assert shown(read_annotations(tmp_path)) == {"JPEGImages/a.jpg": {"mast"}}


def test_an_archive_is_read_as_its_folder_is(tmp_path):
    import zipfile

    (tmp_path / "a").mkdir()
    (tmp_path / "a/classes.txt").write_text("background\nroof\n")
    photograph(tmp_path / "a/images/a.jpg")
    save(tmp_path / "a/masks/a.png", draw(5, [0, 1]))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for path in (tmp_path / "a").rglob("*.*"):
            archive.write(path, path.relative_to(tmp_path / "a").as_posix())
    (tmp_path / "a.zip").write_bytes(content.getvalue())
    assert detect_format(tmp_path / "a.zip") == "semantic-masks"
    assert shown(read_annotations(tmp_path / "a.zip")) == shown(read_annotations(tmp_path / "a"))
