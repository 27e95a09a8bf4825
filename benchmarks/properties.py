"""Properties of image files: images a minute and core, and which planted shifts are found.

    python -m benchmarks.properties [--images 400] [--folder FOLDER]

JPEGs of 640 x 480 at quality 90, drawn with a fixed seed with the spectrum of photographs, or the
first images of a folder. Half are of each class; in one, one thing is changed. Where cleanvision or
cleanlab is installed its score for how far it takes a property for spurious, or the number of
images that it reports, stands beside. Seconds are of one core's time.
"""

import argparse
import io
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from PIL import Image, ImageFilter

from cobalance.statistics.separation import separation_table
from cobalance.vision.images.properties import image_properties

SEED = 0
SHIFTS: dict[str, Callable[[Image.Image], bytes]] = {
    "none": lambda image: jpeg(image),
    "gamma 1.2": lambda image: jpeg(
        image.point([round(255 * (v / 255) ** 1.2) for v in range(256)] * 3)
    ),
    "gamma 2": lambda image: jpeg(
        image.point([round(255 * (v / 255) ** 2) for v in range(256)] * 3)
    ),
    "blur of 0.7 px": lambda image: jpeg(image.filter(ImageFilter.GaussianBlur(0.7))),
    "blur of 3 px": lambda image: jpeg(image.filter(ImageFilter.GaussianBlur(3))),
    "JPEG quality 75": lambda image: jpeg(image, 75),
    "resized by 0.8 and back": lambda image: jpeg(
        image.resize((image.width * 4 // 5, image.height * 4 // 5)).resize(image.size)
    ),
    "grayscale": lambda image: jpeg(image.convert("L").convert("RGB")),
}


def jpeg(image: Image.Image, quality: int = 90) -> bytes:
    """Its file as a JPEG."""
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality)
    return file.getvalue()


def draw(n: int) -> Iterator[Image.Image]:
    """Images of falling spectrum, each of its own light, contrast and colours."""
    rng = np.random.default_rng(SEED)
    down, across = np.fft.fftfreq(480)[:, None], np.fft.rfftfreq(640)[None]
    falling = 1 / np.maximum(np.hypot(down, across), 1 / 640) ** 1.3
    for _ in range(n):
        noise = np.fft.irfft2(np.fft.rfft2(rng.normal(size=(3, 480, 640))) * falling)
        noise += noise.mean(axis=0) * rng.uniform(2, 4)
        pixels = rng.normal(115, 25) + noise / noise.std() * rng.uniform(25, 60)
        tinted = np.moveaxis(pixels, 0, 2) * rng.uniform(0.8, 1.2, 3)
        yield Image.fromarray(tinted.clip(0, 255).astype(np.uint8))


def read(folder: Path, n: int) -> Iterator[Image.Image]:
    """The first images of a folder."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file())[:n]:
        yield Image.open(path).convert("RGB")


def cleanlab_scores(contents: list[bytes], classes: list[str]) -> dict[str, float]:
    """Label uncorrelatedness score of each property by cleanlab's Datalab; below 0.3 it reports."""
    from cleanlab import Datalab
    from datasets import Dataset, Image as ImageFeature

    with TemporaryDirectory() as place:
        paths = [Path(place) / f"{at:06}.jpg" for at in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        names = sorted(set(classes))
        data = Dataset.from_dict(
            {"image": list(map(str, paths)), "label": [names.index(name) for name in classes]}
        ).cast_column("image", ImageFeature())
        lab = Datalab(data, label_name="label", image_key="image", verbosity=0)
        lab.find_issues()
        found = lab.get_info("spurious_correlations")["correlations_df"]
    return dict(zip(found["property"], found["score"], strict=True))


def main() -> None:
    """Print the speed, and a line for each shift."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    images = list(read(given.folder, given.images) if given.folder else draw(given.images))
    half = len(images) // 2
    classes = ["a"] * half + ["b"] * (len(images) - half)
    plain = [jpeg(image) for image in images]
    started = time.process_time()
    for content in plain:
        image_properties(content)
    spent_s = (time.process_time() - started) / len(plain)
    size_kb = np.mean([len(content) for content in plain]) / 1000
    print(f"{60 / spent_s:,.0f} JPEGs of {size_kb:.0f} kB a minute and core")
    for name, change in SHIFTS.items():
        contents = plain[:half] + [change(image) for image in images[half:]]
        measured = pd.DataFrame([image_properties(content) for content in contents])
        table = separation_table(measured, pd.Series(classes)).head(3)
        said = ", ".join(
            f"{row.property} AUC {row.auc:.2f} q {row.q_value:.1e}" for row in table.itertuples()
        )
        print(f"{name}: {said}")
        if find_spec("cleanlab") and find_spec("cleanvision"):
            scores = sorted(cleanlab_scores(contents, classes).items(), key=lambda pair: pair[1])
            print(f"  cleanlab: {', '.join(f'{name} {score:.2f}' for name, score in scores)}")


if __name__ == "__main__":
    main()
