"""The demonstration's images: exact proportions, exact masks, and a test that shares nothing."""

import hashlib
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cobalance.generation.backends.compositing.exemplars import read_exemplars
from cobalance.generation.sources.mask_settings import MaskSettings
from cobalance.generation.sources.object_regions import object_regions
from cobalance.vision.images.masks import mask
from cobalance.vision.images.regions import read_regions, write_regions
from cobalance.workflows.demo.draw_digits import (
    BACKGROUNDS,
    NAME,
    THINGS,
    Digits,
    make_test_digits,
    make_training_digits,
    write_images,
)
from cobalance.workflows.demo.photographs import COINS, PHOTOGRAPHS, areas, digit_positions


@pytest.fixture(scope="module")
def test() -> Digits:
    return make_test_digits(0, per_group=1)


def groups(digits: Digits) -> Counter[tuple[str, bool, bool]]:
    return Counter(zip(digits.table["class_name"], *agreement(digits), strict=True))


def agreement(digits: Digits) -> tuple[list[bool], list[bool]]:
    """Whether background and thing of each image agree with its class."""
    rows = digits.table[["class_name", "background", "thing"]].to_numpy().tolist()
    return (
        [background in BACKGROUNDS[label] for label, background, _ in rows],
        [thing in THINGS[label] for label, _, thing in rows],
    )


def test_groups_have_the_proportions_of_urbancars(train: Digits) -> None:
    assert groups(train) == {
        (name, background, thing): number
        for name in ("eight", "three")
        for background, thing, number in (
            (True, True, 361),
            (True, False, 19),
            (False, True, 19),
            (False, False, 1),
        )
    }
    for column, names in (("background", BACKGROUNDS), ("thing", THINGS)):
        for label, own in names.items():
            rows = train.table[train.table["class_name"] == label]
            counts = rows[column].value_counts()
            assert set(counts.index) == {*names["eight"], *names["three"]}
            assert np.ptp([counts[name] for name in own]) <= 6


def test_every_combination_is_tested_equally_often(test: Digits) -> None:
    columns = ["class_name", "background", "thing"]
    counts = Counter(test.table[columns].itertuples(index=False, name=None))
    assert len(counts) == 72
    assert set(counts.values()) == {1}
    agree = np.sum(agreement(test), axis=0)
    assert (agree == 0).sum() == (agree == 2).sum() == 18


def test_test_images_share_no_pixel_with_training_images() -> None:
    for name, photograph in PHOTOGRAPHS.items():
        (left, top, right, bottom), other = photograph.train, photograph.test
        assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top, name
    by_file: dict[str, list[tuple[int, int, int, int]]] = {}
    for photograph in PHOTOGRAPHS.values():
        by_file.setdefault(photograph.path, []).extend([photograph.train, photograph.test])
    for rectangles in by_file.values():  # of two concepts from one photograph, too
        ordered = sorted(rectangles)
        assert all(first[2] <= second[0] or first[3] <= second[1] or second[3] <= first[1]
                   for first, second in pairwise(ordered))  # fmt: skip
    for x, y, radius in COINS["train"]:
        for u, v, other in COINS["test"]:
            assert max(abs(x - u), abs(y - v)) >= radius + other
    for digit in (3, 8):
        first, second = (set(digit_positions(digit, split)) for split in ("train", "test"))
        assert first
        assert second
        assert not first & second


def test_areas_are_large_enough_and_inside_of_their_photographs() -> None:
    for name in PHOTOGRAPHS:
        for split in ("train", "test"):
            (area,) = areas(name, split)
            least = 48 if any(name in names for names in BACKGROUNDS.values()) else 16
            assert min(area.shape[:2]) >= least
            assert area.std() > 1  # no bars from beyond the edge


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    digests = []
    for number, seed in enumerate((5, 5, 6)):
        folder = tmp_path / str(number)
        folder.mkdir()
        drawn = make_training_digits(seed)
        write_images(folder, drawn.table["id"], drawn.pixels)
        digest = hashlib.sha256()
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            digest.update(path.name.encode() + path.read_bytes())
        digests.append(digest.hexdigest())
    assert digests[0] == digests[1] != digests[2]


def test_masks_are_the_digit_the_thing_and_the_rest(train: Digits) -> None:
    assert not (train.digit_masks & train.thing_masks).any()
    inked = train.pixels[train.digit_masks]
    assert (inked == inked[:, :1]).all()  # grey
    assert inked.min() >= 72
    share = train.digit_masks.mean(axis=(1, 2))
    assert 0.03 < share.min() < share.max() < 0.25


def test_annotations_are_of_what_is_written(train: Digits, tmp_path: Path) -> None:
    write_images(tmp_path, train.table["id"], train.pixels)
    records = list(train.annotations().records())
    assert len(records) == 800
    for record, row in zip(records[:50], train.table.to_dict("records"), strict=False):
        assert (record.id, record.class_name, record.split) == (
            row["id"], row["class_name"], "train"
        )  # fmt: skip
        assert {one.concept for one in record.mentions} == {row["background"], row["thing"]}
        with Image.open(tmp_path / record.uri) as picture:
            assert picture.size == (record.width_px, record.height_px) == (48, 48)


def test_regions_give_the_object_back(train: Digits, tmp_path: Path) -> None:
    write_regions(tmp_path, NAME, train.annotations(regions=True))
    wanted = train.table["id"].tolist()[:20]
    regions = read_regions(tmp_path, NAME, wanted)
    for row, image_id in enumerate(wanted):
        class_name = train.table["class_name"][row]
        of_image = regions[regions["id"] == image_id]
        chosen = object_regions(of_image, class_name, MaskSettings().object)
        (segmentation,) = chosen["segmentation"]
        assert np.array_equal(mask(segmentation, 48, 48), train.digit_masks[row])
        parts = [mask(text, 48, 48) for text in of_image["segmentation"].dropna()]
        assert (np.sum(parts, axis=0) == 1).all()


def test_exemplars_are_pieces_of_their_images(train: Digits, tmp_path: Path) -> None:
    train.write_exemplars(tmp_path, most=5)
    found = read_exemplars(tmp_path)
    for concept in (*BACKGROUNDS["eight"], *BACKGROUNDS["three"]):
        assert found.is_ground(concept)
        row = train.table.index[train.table["background"] == concept][0]
        first, *others = found.of(concept)
        assert len(others) == 4
        assert not (first.shown & train.digit_masks[row]).any()
        assert np.array_equal(first.image[first.shown], train.pixels[row][first.shown])
    for concept in (*THINGS["eight"], *THINGS["three"]):
        assert not found.is_ground(concept)
        assert len(found.of(concept)) == 5
