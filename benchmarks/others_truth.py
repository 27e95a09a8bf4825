"""Count the images of each label in datasets, as their publishers' own libraries read them.

    python benchmarks/others_truth.py < folders.json

Runs in an environment with datumaro and pycocotools, apart from this package: it takes a list of
paths as JSON, and prints a line of JSON for each that one of the two reads. A folder is a dataset
where datumaro knows it as one of a single format; of folders in one another the outermost counts.
"""

import contextlib
import io
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

_DEEPEST = 3  # folders below a path that is asked about
_ANY_PICTURES = {"imagenet", "imagenet_with_subset_dirs", "mots", "video_frames"}
"""Formats that datumaro sees in any folder of pictures."""


def count_coco(file: Path) -> dict[str, Any]:
    """Images, and images of each category, as pycocotools reads them."""
    coco = import_module("pycocotools.coco").COCO(str(file))
    images = defaultdict(set)
    for annotation in coco.loadAnns(coco.getAnnIds(iscrowd=None)):
        if "category_id" in annotation:
            name = coco.cats[annotation["category_id"]]["name"]
            images[name].add(annotation["image_id"])
    return _counts("pycocotools", len(coco.imgs), images)


def count_datumaro(folder: Path) -> dict[str, Any]:
    """Items, and items of each label, as datumaro reads them."""
    datumaro = import_module("datumaro")
    (form,) = datumaro.Environment().detect_dataset(str(folder), depth=0)
    if form in _ANY_PICTURES:
        raise ValueError(f"{form} is any folder of pictures")
    dataset = datumaro.Dataset.import_from(str(folder), form)

    labels = dataset.categories().get(datumaro.AnnotationType.label)
    images = defaultdict(set)
    ids = set()
    for item in dataset:
        ids.add((item.id, item.subset))
        for annotation in item.annotations:
            label = getattr(annotation, "label", None)
            if label is not None and labels is not None:
                images[labels[label].name].add((item.id, item.subset))
    return _counts(form, len(ids), images)


def _counts(form: str, n_images: int, images: dict[str, set[Any]]) -> dict[str, Any]:
    return {
        "format": form,
        "images": n_images,
        "labels": {name: len(ids) for name, ids in images.items()},
    }


def datasets_in(path: Path, deepest: int = _DEEPEST) -> Iterator[dict[str, Any]]:
    """Counts of a dataset, or of those in the folders below it."""
    count: Callable[[Path], dict[str, Any]] = count_datumaro if path.is_dir() else count_coco
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            counts = count(path)
    # The libraries raise whatever a file makes them.
    except Exception:  # noqa: BLE001
        counts = None

    if counts is not None:
        yield {"path": str(path), **counts}
    elif path.is_dir() and deepest > 0:
        for folder in sorted(path.iterdir()):
            if folder.is_dir():
                yield from datasets_in(folder, deepest - 1)


if __name__ == "__main__":
    for name in json.load(sys.stdin):
        for dataset_counts in datasets_in(Path(name)):
            print(json.dumps(dataset_counts), flush=True)
