"""Read and resize the images of batches in threads, ahead of the network."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import chain

import numpy as np
import torch
from torchvision.transforms.v2 import functional as pictures

from cobalance.evaluation.training.examples import Examples, Floats, IntArray, Pixels
from cobalance.vision import ClassifierSettings

Fit = Callable[[Pixels, int], torch.Tensor]
"""Makes an image's tensor from its pixels and its position among all rows of the batches."""
AHEAD = 2
"""Batches that are read while the network computes."""


def read_batches(
    images: Examples, batches: Sequence[IntArray], fit: Fit
) -> Iterator[tuple[IntArray, torch.Tensor]]:
    """Rows and uint8 pixels, shape (n_images, 3, height, width), of each batch, in order."""
    n_threads = max(1, min(8, os.cpu_count() or 1))
    starts = np.cumsum([0, *map(len, batches)]).tolist()

    def read(rows: IntArray, start: int) -> list[torch.Tensor]:
        return list(map(fit, images.read(rows), range(start, start + len(rows))))

    with ThreadPoolExecutor(n_threads) as pool:

        def submit(number: int) -> list["Future[list[torch.Tensor]]"]:
            rows = batches[number]
            # Each batch is split among all threads, so that the next one is there soonest.
            size = math.ceil(len(rows) / n_threads)
            return [
                pool.submit(read, rows[first : first + size], starts[number] + first)
                for first in range(0, len(rows), size)
            ]

        under_way = list(map(submit, range(min(AHEAD, len(batches)))))
        for number, rows in enumerate(batches):
            if number + AHEAD < len(batches):
                under_way.append(submit(number + AHEAD))
            parts = (part.result() for part in under_way.pop(0))
            yield rows, torch.stack(list(chain.from_iterable(parts)))


def whole(settings: ClassifierSettings) -> Fit:
    """Whole images, squeezed to the network's size."""
    return lambda image, _: settings.squeeze(image)


def make_variation(settings: ClassifierSettings, crop: float, flip: bool, draws: Floats) -> Fit:
    """Random crops and flips.

    Parameters
    ----------
    settings : ClassifierSettings
        The size.
    crop : float
        Least share of the area; 1 for whole images.
    flip : bool
        Whether to flip half of the images.
    draws : float64 array, shape (n_positions, 5)
        Uniform numbers: whatever the threads do, a position has the same image.
    """
    if crop == 1 and not flip:
        return whole(settings)
    return partial(_vary, settings, crop, flip, draws)


def _vary(
    settings: ClassifierSettings,
    crop: float,
    flip: bool,
    draws: Floats,
    image: Pixels,
    position: int,
) -> torch.Tensor:
    area, shape, down, across, side = draws[position].tolist()
    height, width = image.shape[:2]
    if crop < 1:
        share = crop + (1 - crop) * area
        # Width to height, from 3:4 to 4:3.
        ratio = (3 / 4) ** (1 - 2 * shape)
        rows = min(height, max(1, round((height * width * share / ratio) ** 0.5)))
        columns = min(width, max(1, round((height * width * share * ratio) ** 0.5)))
        top, left = int(down * (height - rows + 1)), int(across * (width - columns + 1))
        image = image[top : top + rows, left : left + columns]

    pixels = settings.squeeze(image)
    return pictures.horizontal_flip(pixels) if flip and side < 0.5 else pixels
