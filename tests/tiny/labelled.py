"""Tiny labelled images: a coloured square on a dark or bright ground that goes with the class."""

import numpy as np

from cobalance.evaluation.training.examples import Examples, IntArray, Pixels


def tiny_examples(
    n_images: int = 24,
    seed: int = 0,
    *,
    multi_label: bool = False,
    share: float = 0.75,
    size_px: int = 16,
) -> Examples:
    """Two classes, red and blue squares, and two domains, dark and bright grounds.

    The domain is the class in this share of the images; group is 2·class + domain. With several
    labels an image has red, blue, both or neither. Sizes differ from image to image.
    """
    rng = np.random.default_rng([seed, n_images])
    labels = np.arange(n_images) % 2
    domains = np.where(rng.random(n_images) < share, labels, 1 - labels)
    if n_images >= 8:
        labels[:4], domains[:4] = (0, 0, 1, 1), (0, 1, 0, 1)  # no group is empty
    several = np.stack([labels, rng.integers(0, 2, n_images)], axis=1)
    images: list[Pixels] = []
    for at in range(n_images):
        height, width = size_px + int(rng.integers(0, 3)), size_px + int(rng.integers(0, 3))
        ground = rng.integers(0, 60, (height, width, 3)) + 150 * domains[at]
        image = ground.astype(np.uint8)
        colours = np.flatnonzero(several[at]) * 2 if multi_label else [2 * labels[at]]
        square = image[height // 4 : -height // 4, width // 4 : -width // 4]
        square[..., 1] = 0
        for channel in (0, 2):
            square[..., channel] = 255 if channel in colours else 0
        images.append(image)

    def read(rows: IntArray) -> list[Pixels]:
        return [images[row] for row in rows.tolist()]

    return Examples(
        [f"image {seed} {at}" for at in range(n_images)],
        several if multi_label else labels,
        2 * labels + domains,
        domains,
        ["red", "blue"],
        read,
    )
