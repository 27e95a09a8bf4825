"""Planted differences between classes are found in image files, and none where there is none."""

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image, ImageFilter

from cobalance.vision.images.properties import image_properties
from cobalance.workflows.properties import (
    PROPERTIES,
    compare_classes,
    extreme_images,
    property_concepts,
)

CLASS = 200  # images


def photographs(n, seed=0):
    """Noise with the spectrum of photographs, each of its own light, contrast and colour."""
    rng = np.random.default_rng(seed)
    down, across = np.fft.fftfreq(72)[:, None], np.fft.rfftfreq(96)[None]
    falling = 1 / np.maximum(np.hypot(down, across), 1 / 96) ** 1.3
    found = []
    for _ in range(n):
        noise = np.fft.irfft2(np.fft.rfft2(rng.normal(size=(3, 72, 96))) * falling)
        noise = noise.mean(axis=0) * rng.uniform(2, 4) + noise
        pixels = rng.normal(115, 25) + noise / noise.std() * rng.uniform(25, 60)
        tinted = np.moveaxis(pixels, 0, 2) * rng.uniform(0.8, 1.2, 3)
        found.append(Image.fromarray(tinted.clip(0, 255).astype(np.uint8)))
    return found


def jpeg(image, quality=90):
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality)
    return file.getvalue()


def measured(contents):
    return pd.DataFrame([image_properties(content) for content in contents])


@pytest.fixture(scope="module")
def pictures():
    return photographs(2 * CLASS)


@pytest.fixture(scope="module")
def plain(pictures):
    return measured(map(jpeg, pictures))


SHIFTS = {
    "gamma": lambda image: jpeg(image.point(lambda value: round(255 * (value / 255) ** 1.3))),
    "blur": lambda image: jpeg(image.filter(ImageFilter.GaussianBlur(0.7))),
    "JPEG quality": lambda image: jpeg(image, 75),
    "resize": lambda image: jpeg(image.resize((80, 60)).resize((96, 72))),
    "size": lambda image: jpeg(image.resize((90, 72))),
}
FOUND_BY = {
    "gamma": "brightness",
    "blur": "sharpness",
    "JPEG quality": "bytes",
    "resize": "sharpness",
    "size": "pixels",
}


@pytest.mark.parametrize("shift", SHIFTS)
def test_a_shift_in_one_class_is_found(pictures, plain, shift):
    shifted = measured(map(SHIFTS[shift], pictures[CLASS:]))
    images = pd.concat([plain[:CLASS], shifted], ignore_index=True)
    table = compare_classes(images.assign(**{"class": ["a"] * CLASS + ["b"] * CLASS}))
    row = table.set_index("property").loc[FOUND_BY[shift]]
    assert row["q_value"] < 0.001
    assert not row["auc_low"] < 0.5 < row["auc_high"]


def test_random_classes_are_told_apart_no_more_often_than_stated(plain):
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(100):
        classes = rng.permutation(np.repeat(["a", "b"], CLASS))
        found = compare_classes(plain.assign(**{"class": classes}))
        wrong += bool((found["q_value"] <= 0.05).any())
    # 5 of 100 by the nominal rate; 11 or more are less probable than 1 in 80.
    assert wrong <= 10


def test_a_dataset_of_one_class_has_values_and_concepts(plain):
    ids = [f"{at:03}" for at in range(2 * CLASS)]
    images = plain.assign(id=ids, **{"class": "all images"})
    table = compare_classes(images).set_index("property")
    assert table.loc["brightness", "50%"] == plain["brightness"].median()
    assert table.loc["file type", "top"] == "JPEG"
    concepts = property_concepts(images, PROPERTIES)
    told = concepts[concepts["concept"].str.startswith("image: brightness")]
    assert sorted(told["image"]) == ids
    # four bins of equal counts, but for edges of few digits
    assert told["concept"].value_counts().between(CLASS / 2 - 10, CLASS / 2 + 10).all()
    assert told["concept"].nunique() == 4
    low = told["concept"].str.extract(r"image: brightness below (\S+)")[0].dropna()
    assert plain["brightness"][plain["brightness"] < float(low.iloc[0])].count() == len(low)
    assert not concepts["concept"].str.contains("pixels|file type|aspect").any()  # of all alike


def test_extreme_images_are_of_each_class_and_none_twice():
    images = pd.DataFrame({"id": [*"abcdefg"], "class": [*"xxxxyyy"]})
    images["bytes"] = [5.0, 1.0, 3.0, None, 2.0, 9.0, 2.0]
    found = extreme_images(images, "bytes", 2)
    assert found[["class", "extreme", "id"]].agg(" ".join, axis=1).tolist() == [
        *("x least b", "x least c", "x most a"),
        *("y least e", "y least g", "y most f"),
    ]
