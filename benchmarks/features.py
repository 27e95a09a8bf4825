"""What it costs to extract the features of an image, and to read those that are kept.

    python -m benchmarks.features [--images 100]

DINOv2-small with random weights, which cost as much as the published ones, on noise of 320 by 320
pixels in memory, on one core.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from transformers import BitImageProcessorPil, Dinov2Config, Dinov2Model

from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.features import FEATURES
from cobalance.vision.models.loading import quiet


def main() -> None:
    """Print CPU time and space for each image."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=100)
    n_images = parser.parse_args().images
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    pictures = list(rng.integers(0, 256, (n_images, 320, 320, 3), dtype=np.uint8))
    codes = np.zeros(n_images, np.int64)
    ids = [str(row) for row in range(n_images)]
    images = Examples(
        *(ids, codes, codes, codes, ["all"]),
        read=lambda rows: [pictures[row] for row in rows.tolist()],
    )
    with tempfile.TemporaryDirectory() as place:
        model, cache = Path(place) / "model", Path(place) / "cache"
        size = {"height": 224, "width": 224}
        with quiet():
            Dinov2Model(
                Dinov2Config(hidden_size=384, num_attention_heads=6, image_size=518, patch_size=14)
            ).save_pretrained(model)
            BitImageProcessorPil(size={"shortest_edge": 256}, crop_size=size).save_pretrained(model)
        features = FEATURES.open("dinov2", {"model": str(model)}).with_cache(cache)  # type: ignore[attr-defined]
        for what in ("extracted", "kept"):
            start = time.process_time()
            features.read(images)
            spent_ms = 1000 * (time.process_time() - start) / n_images
            print(f"{what}: {spent_ms:.2f} ms of CPU an image")
        (file,) = cache.iterdir()
        print(f"{file.stat().st_size / n_images:,.0f} bytes an image")


if __name__ == "__main__":
    main()
