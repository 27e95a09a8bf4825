"""Write a seeded annotation file in the style of COCO's instances_train2017.json.

``python -m benchmarks.coco_file out.json --images 118000``

As in COCO: 7.3 annotations an image, segmentation polygons that make up most of the file, boxes
and areas with two decimals, and category ids with gaps. Two categories, ``man`` and ``woman``,
serve as classes: of the images, 60% show the one, 30% the other, 5% both and 5% neither, and
every category leans to a class more or less.
"""

import argparse
from pathlib import Path
from typing import TextIO

import numpy as np
import numpy.typing as npt

CLASSES = ("man", "woman")
CHUNK = 2_000  # images written at once
MEAN = 6.35  # annotations an image besides those that give its class
POINTS = (4, 42)  # corners of a polygon, fewest and most

IntArray = npt.NDArray[np.int64]


def write_coco(path: Path, n_images: int = 118_000, n_categories: int = 80, seed: int = 0) -> None:
    """Write a COCO instances file, chunk by chunk; 118,000 images make about 450 MB.

    Parameters
    ----------
    n_images : int
        How many images; on average 7.3 annotations each.
    n_categories : int
        How many categories, those of the two classes among them.
    seed : int
        Of everything: the same arguments give the same bytes.
    """
    rng = np.random.default_rng(seed)
    ids = np.sort(rng.choice(n_images * 5, n_images, replace=False)) + 1
    category_ids = np.sort(rng.choice(n_categories + n_categories // 8, n_categories, False)) + 1
    widths, heights = rng.choice([480, 500, 612, 640], (2, n_images))
    popularity = 1 / np.arange(1, n_categories - 1)
    lean = np.exp(rng.normal(0, 0.7, (2, n_categories - 2)))
    rates = popularity * lean / (popularity * lean).sum(axis=1, keepdims=True)
    with path.open("w", encoding="utf-8") as file:
        file.write('{"info": {"description": "A seeded file in the style of COCO", "year": 2017}, ')
        file.write('"licenses": [], "images": [')
        for first in range(0, n_images, CHUNK):
            some = slice(first, first + CHUNK)
            rows = zip(ids[some].tolist(), widths[some], heights[some], strict=True)
            file.write(", " if first else "")
            file.write(", ".join(_image(*row) for row in rows))
        file.write('], "annotations": [')
        number = 0
        for first in range(0, n_images, CHUNK):
            some = slice(first, first + CHUNK)
            sizes = np.stack([widths[some], heights[some]], axis=1)
            number = _write_annotations(file, ids[some], sizes, rates, category_ids, number, rng)
        names = (*CLASSES, *(f"concept {code:03d}" for code in range(n_categories - 2)))
        categories = (
            f'{{"supercategory": "thing", "id": {category}, "name": "{name}"}}'
            for category, name in zip(category_ids.tolist(), names, strict=True)
        )
        file.write(f'], "categories": [{", ".join(categories)}]}}')


def _image(image: int, width: int, height: int) -> str:
    name = f"{image:012d}.jpg"
    return (
        f'{{"license": 3, "file_name": "{name}", '
        f'"coco_url": "http://images.example.org/train2017/{name}", '
        f'"height": {height}, "width": {width}, "date_captured": "2013-11-14 11:18:45", '
        f'"id": {image}}}'
    )


def _write_annotations(
    file: TextIO,
    ids: IntArray,
    sizes: IntArray,
    rates: npt.NDArray[np.float64],
    category_ids: IntArray,
    number: int,
    rng: np.random.Generator,
) -> int:
    """Write the annotations of some images; gives how many there are by now."""
    kind = rng.choice(4, len(ids), p=[0.6, 0.3, 0.05, 0.05])  # man, woman, both, neither
    shown = np.where(kind == 3, rng.integers(0, 2, len(ids)), kind % 2)
    images, categories = [], []
    for class_code in range(2):
        here = np.flatnonzero((kind == class_code) | (kind == 2))
        images.append(here)
        categories.append(np.full(len(here), class_code))
        here = np.flatnonzero(shown == class_code)
        drawn = np.repeat(here, rng.negative_binomial(1.6, 1.6 / (1.6 + MEAN), len(here)))
        images.append(drawn)
        categories.append(2 + rng.choice(rates.shape[1], len(drawn), p=rates[class_code]))
    image, category = np.concatenate(images), np.concatenate(categories)
    order = np.argsort(image, kind="stable")
    image, category = image[order], category[order]
    n = len(image)
    size = sizes[image]
    extent = np.maximum(size * rng.beta(0.9, 2.2, (n, 2)), 2).round(2)
    corner = ((size - extent) * rng.random((n, 2))).round(2)
    area = (extent.prod(axis=1) * rng.uniform(0.4, 0.8, n)).round(4)
    corners = rng.integers(*POINTS, n)
    points = (np.repeat(corner, corners, axis=0) + np.repeat(extent, corners, axis=0)
              * rng.random((corners.sum(), 2))).round(2).ravel().tolist()  # fmt: skip
    ends = np.cumsum(2 * corners).tolist()
    rows = zip(
        ids[image].tolist(),
        category_ids[category].tolist(),
        corner.tolist(),
        extent.tolist(),
        area.tolist(),
        [0, *ends[:-1]],
        ends,
        strict=True,
    )
    lines = [
        f'{{"segmentation": [{points[start:end]}], "area": {area_px2}, "iscrowd": 0, '
        f'"image_id": {image_id}, "bbox": {[*xy, *wh]}, "category_id": {category_id}, '
        f'"id": {number + offset}}}'
        for offset, (image_id, category_id, xy, wh, area_px2, start, end) in enumerate(rows, 1)
    ]
    if lines:
        file.write((", " if number else "") + ", ".join(lines))
    return number + n


def main() -> None:
    """Write a file from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--images", type=int, default=118_000)
    parser.add_argument("--categories", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    write_coco(options.path, options.images, options.categories, options.seed)


if __name__ == "__main__":
    main()
