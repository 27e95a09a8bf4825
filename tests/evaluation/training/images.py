"""Small images with a planted object and a shortcut, as examples and as labelled images."""

from io import BytesIO

import numpy as np
import pandas as pd
from PIL import Image

from cobalance.evaluation.training.data.images import LabelledImages
from cobalance.evaluation.training.examples import Examples

CLASSES = ("cat", "dog")
SIZES = (40, 6, 6, 2)
"""Images of a class by group: both common, background rare, object rare, both rare."""


def examples(sizes=SIZES, seed=0, *, noise=40, side=8, groups=True, classes=CLASSES) -> Examples:
    """The class is faintly in the left half of an image, the shortcut plainly in the right half."""
    rng = np.random.default_rng(seed)
    labels, codes = [], []
    for label in range(len(classes)):
        for group, size in enumerate(sizes):
            labels += [label] * size
            codes += [label * len(sizes) + group] * size
    labels, codes = np.array(labels), np.array(codes)
    common = codes % len(sizes) == 0
    pixels = 120 + rng.normal(0, noise, (len(labels), side, side, 3))
    pixels[:, :, : side // 2] += 15 * labels[:, None, None, None]
    shown = np.where(common, labels, (labels + 1) % len(classes))
    pixels[:, :, side // 2 :] += 60 * shown[:, None, None, None]
    stored = np.clip(pixels, 0, 255).astype(np.uint8)
    order = rng.permutation(len(labels))
    return Examples(
        [f"image {row}" for row in order],
        labels[order],
        codes[order] if groups else np.full(len(order), -1),
        shown[order] if groups else np.full(len(order), -1),
        classes,
        lambda rows: list(stored[order[rows]]),
        [f"group {code}" for code in range(len(sizes) * len(classes))],
    )


def several_labels(n=60, seed=0, n_labels=3) -> Examples:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, (n, n_labels))
    pixels = rng.normal(100, 10, (n, 4, 4 * n_labels, 3))
    pixels += 80 * labels.repeat(4, axis=1)[:, None, :, None]
    stored = np.clip(pixels, 0, 255).astype(np.uint8)
    names = [f"thing {at}" for at in range(n_labels)]
    none = np.arange(n) % 2
    return Examples(
        [str(at) for at in range(n)], labels, none, none, names, lambda rows: list(stored[rows])
    )


def table(rows, **columns) -> pd.DataFrame:
    """Rows of id, class, and what it was made from, None for a real image."""
    frame = pd.DataFrame(
        [(image, name, source is not None, source) for image, name, source in rows],
        columns=["image", "class_name", "synthetic", "source"],
        dtype=object,
    )
    frame["synthetic"] = frame["synthetic"].astype(bool)
    frame["concepts"] = [[] for _ in rows]
    frame["split"] = None
    frame["uri"] = [f"{image}.png" for image in frame["image"]]
    return frame.assign(**columns)


def labelled(rows, name="zoo", **columns) -> LabelledImages:
    return LabelledImages(name, table(rows, **columns), lambda uri, synthetic: png(uri))


def png(uri) -> bytes:
    """A small image whose red channel is the length of its address."""
    out = BytesIO()
    Image.fromarray(np.full((3, 4, 3), (len(uri), 0, 0), np.uint8)).save(out, "PNG")
    return out.getvalue()
