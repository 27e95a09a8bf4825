"""Small objects in large photographs, painted whole and in crops: `python -m benchmarks.crops`.

Photographs of 4000 x 3000 pixels, each with an object of 200 x 200, by a tiny model of Stable
Diffusion's architecture. Prints how many of the model's pixels show the object, whether all others
of the photograph stayed to the bit, the seconds an image takes, and the peak of memory.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from cobalance.generation.backends.inpaint import InpaintOptions, open_backend
from cobalance.generation.image_request import ImageRequest, SourceImage
from tests.tiny.diffusion import save_pipeline

WIDTH, HEIGHT, OBJECT_PX = 4000, 3000, 200


def photographs(count: int, seed: int) -> Iterator[ImageRequest]:
    """Requests with objects at random places."""
    random = np.random.default_rng(seed)
    for number in range(count):
        image = random.integers(0, 255, (HEIGHT, WIDTH, 3), dtype=np.uint8)
        mask = np.zeros((HEIGHT, WIDTH), bool)
        top = random.integers(0, HEIGHT - OBJECT_PX)
        left = random.integers(0, WIDTH - OBJECT_PX)
        mask[top : top + OBJECT_PX, left : left + OBJECT_PX] = True
        source = SourceImage(f"{number}", f"{number}.png", image, mask)
        yield ImageRequest(f"{number}", "bird", (), "a bird", number, source)


def main() -> None:
    """Paint them both ways, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        model = str(save_pipeline("sd-inpaint", Path(folder)))
        for crop in (True, False):
            backend = open_backend(
                InpaintOptions(model=model, steps=1, paint="object", crop=crop, offline=True)
            )
            before_mb = _peak_mb()
            started, shown_px, n_equal = time.perf_counter(), [], 0
            for request in photographs(options.images, options.seed):
                source = request.source
                assert source is not None
                task = backend.prepare(source, request.seed)
                shown_px.append(np.count_nonzero(np.asarray(task.inputs["mask_image"])))
                (made,) = backend.generate([request])
                n_equal += not (made.image != source.image).any(axis=2)[~source.mask].any()

            seconds = (time.perf_counter() - started) / options.images
            print(
                f"{'in crops' if crop else 'whole'}: {np.mean(shown_px):,.0f} of the model's "
                f"pixels show the object; {n_equal} of {options.images} equal outside; "
                f"{seconds:.2f} s an image; {_peak_mb() - before_mb:,.0f} MB above the "
                f"{before_mb:,.0f} with which it began",
                flush=True,
            )


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
