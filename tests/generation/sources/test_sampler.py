import json
from collections import Counter
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from cobalance.base.errors import InputError, JobBlockedError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.generation.image_request import GenerationError
from cobalance.generation.sources.mask_settings import MaskSettings
from cobalance.generation.sources.object_masks import ObjectMasks
from cobalance.generation.sources.sampler import TRIES, Sources, shuffle
from cobalance.graph.dataset.read import ClassImages
from cobalance.vision.images.decoding import decode
from cobalance.vision.images.regions import read_regions, write_regions

SQUARE = json.dumps([[10, 10, 30, 10, 30, 20, 10, 20]])


def picture(width=60, height=40, seed=0):
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


@pytest.fixture
def sources(tmp_path):
    """Make sources from records, whose image files are in a folder."""

    def read(uri):
        try:
            return (tmp_path / uri).read_bytes()
        except OSError as error:
            raise InputError(uri, None, error.strerror, "Bring it back.") from error

    def make(records, segment=None, **settings):
        write_regions(tmp_path / "regions", "d", Annotations.from_records(records))
        images = {}
        for name in {record.class_name for record in records}:
            own = [(r.id, r.uri) for r in records if r.class_name == name]
            images[name] = ClassImages(*zip(*own, strict=True))
        return Sources(
            images,
            read,
            ObjectMasks(
                MaskSettings(**settings),
                lambda ids: read_regions(tmp_path / "regions", "d", ids),
                segment,
            ),
        )

    return make


@pytest.fixture
def image(tmp_path):
    """Make an image file, and the record of it."""

    def make(name, *mentions, class_name="cat", size=(60, 40), file=True, **options):
        if file:
            picture(*size).save(tmp_path / f"{name}.png", **options)
        return ImageRecord(name, class_name, mentions, None, f"{name}.png", *size)

    return make


def outlined(concept="cat", segmentation=SQUARE, box=None):
    return Mention(concept, box=box, segmentation=segmentation)


def of(rows, columns, size=(60, 40)):
    mask = np.zeros(size[::-1], dtype=bool)
    mask[rows, columns] = True
    return mask


def test_pixels_and_mask_are_those_of_the_file_and_its_outline(sources, image):
    found = sources([image("a", outlined(), outlined("sofa", "[[0,0,50,0,50,40,0,40]]"))]).sample(
        "cat", 7
    )
    assert (found.image_id, found.uri) == ("a", "a.png")
    assert np.array_equal(found.image, np.asarray(picture()))
    assert np.array_equal(found.mask, of(slice(10, 20), slice(10, 30)))


def test_runs_and_boxes(sources, image):
    runs = json.dumps({"size": [40, 60], "counts": [400, 800, 1200]})  # columns 10 to 29
    records = [image("a", Mention("cat", box=(5.0, 3.0, 20.0, 10.0), segmentation=runs))]
    expected = of(slice(None), slice(10, 30))
    assert np.array_equal(sources(records).sample("cat", 0).mask, expected)
    found = sources(records, masks="boxes").sample("cat", 0).mask
    assert np.array_equal(found, of(slice(3, 13), slice(5, 25)))
    found = sources([image("a", outlined())], masks="boxes").sample("cat", 0).mask
    assert np.array_equal(found, of(slice(10, 20), slice(10, 30)))


def test_the_largest_instance_or_all(sources, image):
    small = json.dumps([[40, 30, 46, 30, 46, 36, 40, 36]])
    records = [image("a", outlined(segmentation=small), outlined(), outlined("rug", small))]
    large = of(slice(10, 20), slice(10, 30))
    assert np.array_equal(sources(records).sample("cat", 0).mask, large)
    every = sources(records, instances="all").sample("cat", 0).mask
    assert np.array_equal(every, large | of(slice(30, 36), slice(40, 46)))


def test_a_crowd_is_no_object(sources, image):
    """Nor does it make an object's own region the largest; an image with nothing else is none."""
    whole = "[[0,0,50,0,50,40,0,40]]"
    crowd = Mention("cat", box=(0.0, 0.0, 50.0, 40.0), segmentation=whole, crowd=True)
    single = of(slice(10, 20), slice(10, 30))
    for settings in ({}, {"instances": "all"}, {"object": "*"}, {"masks": "boxes"}):
        found = sources([image("a", crowd, outlined()), image("b", crowd)], **settings)
        for seed in range(8):
            sample = found.sample("cat", seed)
            assert sample.image_id == "a"
            assert np.array_equal(sample.mask, single)
    alone = sources([image("b", crowd)])
    with pytest.raises(GenerationError, match="has only a crowd as its object, such as 'b'"):
        alone.sample("cat", 0)
    segmented = sources([image("b", crowd)], lambda pixels, box: single, masks="segmenter")
    with pytest.raises(GenerationError, match="only a crowd"):
        segmented.sample("cat", 0)


def test_a_crowd_of_something_else_forbids_a_guess(sources, image):
    crowd = Mention("person", box=(0.0, 0.0, 9.0, 9.0), crowd=True)
    with pytest.raises(GenerationError, match="has no region of 'urban'"):
        sources([image("a", crowd, outlined(), class_name="urban")]).sample("urban", 0)


def test_the_same_seed_is_the_same_choice(sources, image):
    records = [image(f"{i:02d}", outlined()) for i in range(30)]
    first, second = sources(records), sources(records)
    chosen = [first.sample("cat", seed).image_id for seed in range(20)]
    assert chosen == [second.sample("cat", seed).image_id for seed in range(20)]
    assert len(set(chosen)) > 8
    # Fixed, so that a job goes on elsewhere as it began.
    assert chosen[:4] == ["22", "01", "20", "15"]


def test_every_order_is_as_likely_as_another():
    orders = Counter(tuple(shuffle(3, seed)) for seed in range(6000))
    assert len(orders) == 6
    assert all(900 < times < 1100 for times in orders.values())


@pytest.mark.parametrize("count", [0, 1, 2, 7, 100])
def test_an_order_has_each_number_once(count):
    assert sorted(shuffle(count, seed=3)) == list(range(count))


def test_the_first_of_many_are_drawn_at_once():
    assert len({next(shuffle(10**12, seed)) for seed in range(100)}) == 100


def test_unusable_images_are_passed_over(sources, image):
    records = [image(f"{i}", outlined(), file=i == 3) for i in range(10)]
    records += [image("no outline", Mention("cat"))]
    assert {sources(records).sample("cat", seed).image_id for seed in range(5)} == {"3"}


def test_mask_files(sources, image, tmp_path):
    folder = tmp_path / "masks"
    folder.mkdir()
    for name, values in (("a", 255), ("b", 1)):
        mask = of(slice(0, 10), slice(0, 30)).astype(np.uint8) * values
        Image.fromarray(mask).save(folder / f"{name}.png")
    settings = {"masks": "files", "mask_folder": str(folder)}
    for name in "ab":
        found = sources([image(name)], **settings).sample("cat", 0)
        assert np.array_equal(found.mask, of(slice(0, 10), slice(0, 30)))
    assert sources([image("a")], **settings, mask_pattern="{id}.png").sample("cat", 0)
    with pytest.raises(GenerationError, match=r"no mask file, such as 'c'.*c.png: No such file"):
        sources([image("c")], **settings).sample("cat", 0)
    Image.new("L", (30, 20), 255).save(folder / "c.png")
    with pytest.raises(GenerationError, match=r"mask file of another size.*30×20 .* of 60×40"):
        sources([image("c")], **settings).sample("cat", 0)
    (folder / "c.png").write_bytes(b"no image")
    with pytest.raises(GenerationError, match="mask file that is not a usable image"):
        sources([image("c")], **settings).sample("cat", 0)


def test_mask_files_are_inside_their_folder(sources, image, tmp_path):
    (tmp_path / "masks").mkdir()
    record = image("a")
    record = ImageRecord("../../a", "cat", (), None, record.uri, 60, 40)
    made = sources(
        [record], masks="files", mask_folder=str(tmp_path / "masks"), mask_pattern="{id}.png"
    )
    with pytest.raises(GenerationError, match="outside of the folder"):
        made.sample("cat", 0)


@pytest.mark.parametrize("orientation", [3, 6, 8])
def test_images_that_exif_data_turn(sources, image, tmp_path, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    turned = decode(png(picture(), exif)).upright()
    shown, stored = turned.size, (60, 40)
    for annotated in {shown, stored}:
        picture().save(tmp_path / "a.png", exif=exif)
        found = sources([ImageRecord("a", "cat", (outlined(),), None, "a.png", *annotated)]).sample(
            "cat", 0
        )
        expected = turned if annotated == shown else picture()
        assert np.array_equal(found.image, np.asarray(expected))
        assert found.mask.shape == annotated[::-1]
        assert np.array_equal(found.mask, of(slice(10, 20), slice(10, 30), annotated))
    unknown = ImageRecord("a", "cat", (outlined(),), None, "a.png")
    assert np.array_equal(sources([unknown]).sample("cat", 0).image, np.asarray(turned))


def png(image, exif):
    file = BytesIO()
    image.save(file, "PNG", exif=exif)
    return file.getvalue()


def test_annotations_of_another_size_are_refused(sources, image):
    record = image("a", outlined())
    record = ImageRecord("a", "cat", record.mentions, None, record.uri, 120, 80)
    with pytest.raises(GenerationError, match=r"annotations of another size.*120×80 .* of 60×40"):
        sources([record]).sample("cat", 0)


def test_a_segmenter_gets_the_objects_box(sources, image):
    asked = []

    def segment(pixels, box):
        asked.append(box)
        return of(slice(0, 10), slice(0, 30))

    boxes = [Mention("cat", box=(1.0, 2.0, 3.0, 4.0)), Mention("cat", box=(5.0, 6.0, 7.0, 8.0))]
    records = [image("a", *boxes)]
    found = sources(records, segment, masks="segmenter").sample("cat", 0)
    assert np.array_equal(found.mask, of(slice(0, 10), slice(0, 30)))
    sources(records, segment, masks="segmenter", instances="all").sample("cat", 0)
    sources([image("a")], segment, masks="segmenter").sample("cat", 0)
    assert asked == [(5, 6, 7, 8), (5, 6, 7, 8), (1, 2, 3, 4), None]

    def nothing(pixels, box):
        raise GenerationError("It finds nothing.")

    with pytest.raises(GenerationError, match="does not find, such as 'a': It finds nothing"):
        sources(records, nothing, masks="segmenter").sample("cat", 0)

    def blocked(pixels, box):
        raise JobBlockedError("The model is gone.")

    with pytest.raises(JobBlockedError):
        sources(records, blocked, masks="segmenter").sample("cat", 0)


def test_when_none_can_be_used_the_commonest_reason_is_named(sources, image):
    records = [image(f"gone {i}", outlined(), file=False) for i in range(3)]
    records += [image("none", Mention("sofa", box=(0.0, 0.0, 9.0, 9.0)), outlined("rug"))]
    with pytest.raises(GenerationError) as caught:
        sources(records).sample("cat", 0)
    text = str(caught.value)
    assert "from its 4 images" in text
    assert "(3 times) an image has a file that cannot be read, such as 'gone" in text
    assert "No such file or directory" in text
    with pytest.raises(GenerationError, match="No image of class 'dog'"):
        sources(records).sample("dog", 0)
    with pytest.raises(
        GenerationError, match=r"has no region of 'cat'.*'rug', 'sofa'.*masks.object"
    ):
        sources(records[3:]).sample("cat", 0)


def test_images_that_go_out_of_reach_are_not_taken_for_missing(sources, image, tmp_path):
    there, gone = image("there", outlined()), image("gone", outlined(), class_name="dog")
    (tmp_path / "gone.png").unlink()
    made = sources([there, gone])
    made.sample("cat", 0)
    with pytest.raises(GenerationError, match="No object of class 'dog'"):
        made.sample("dog", 0)

    (tmp_path / "there.png").rename(tmp_path / "unmounted.png")
    for class_name in ("cat", "dog"):
        with pytest.raises(JobBlockedError, match=r"no longer be read: there\.png.*retry the job"):
            made.sample(class_name, 0)
    (tmp_path / "unmounted.png").rename(tmp_path / "there.png")
    assert made.sample("cat", 0).image_id == "there"


def test_at_most_so_many_are_tried(sources, image):
    records = [image(f"{i}", outlined(), file=False) for i in range(TRIES + 20)]
    with pytest.raises(GenerationError, match=f"{TRIES} of its {TRIES + 20} images"):
        sources(records).sample("cat", 0)


def test_masks_that_cover_too_little_or_too_much(sources, image):
    tiny, whole = "[[0,0,4,0,4,4,0,4]]", "[[0,0,60,0,60,40,0,40]]"
    for outline, share in ((tiny, "0.67%"), (whole, "100.00%")):
        with pytest.raises(GenerationError, match=f"covers less than 1.0%.*{share}"):
            sources([image("a", outlined(segmentation=outline))]).sample("cat", 0)
    assert sources([image("a", outlined(segmentation=tiny))], min_share=0).sample("cat", 0)
    with pytest.raises(GenerationError, match="covers"):
        sources([image("a", outlined(segmentation=whole))], max_share=1).sample("cat", 0)


def test_a_box_alone_is_no_outline(sources, image):
    records = [image("a", Mention("cat", box=(5.0, 5.0, 20.0, 20.0)))]
    with pytest.raises(GenerationError, match=r"no outline.*Take masks from boxes"):
        sources(records).sample("cat", 0)
    assert sources(records, masks="boxes").sample("cat", 0).mask.sum() == 400


def test_broken_outlines_and_files(sources, image, tmp_path):
    runs = json.dumps({"size": [4, 6], "counts": [4, 8, 12]})
    with pytest.raises(
        GenerationError, match="outline that cannot be read, such as 'a': The mask has"
    ):
        sources([image("a", outlined(segmentation=runs))]).sample("cat", 0)
    record = image("a", outlined())
    (tmp_path / "a.png").write_bytes(b"GIF89a")
    with pytest.raises(GenerationError, match="not a usable image"):
        sources([record]).sample("cat", 0)
