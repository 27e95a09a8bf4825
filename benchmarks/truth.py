"""Ground truth in files of full size: CelebA's attributes, and CUB's.

    python -m benchmarks.truth [--images 202599] [--birds 11788]

Writes files of the datasets' form with random values (seed 0), CUB's with a few rows of six fields
as in the published file, reads each in a process of its own, and checks what was read.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cobalance.annotation.measuring.truth import read_truth

ATTRIBUTES, PARTS = 40, 312
_CERTAINTIES = (0.1, 0.1, 0.3, 0.5)  # of not visible, guessing, probably and definitely


def write_celeba(folder: Path, images: int) -> Path:
    """Write ``list_attr_celeba.txt``."""
    values = np.where(_random_bits(images, ATTRIBUTES), "1", "-1")
    names = ["No_Beard", *(f"Attribute_{at}" for at in range(1, ATTRIBUTES))]
    path = folder / "list_attr_celeba.txt"
    with path.open("w") as file:
        file.write(f"{images}\n{' '.join(names)}\n")
        for at, row in enumerate(values.tolist(), start=1):
            file.write(f"{at:06}.jpg {' '.join(f'{one:>2}' for one in row)}\n")
    return path


def write_cub(folder: Path, images: int) -> Path:
    """Write ``image_attribute_labels.txt``, and the names of attributes and images, as in CUB."""
    inner = folder / "CUB_200_2011" / "attributes"
    inner.mkdir(parents=True)
    (folder / "attributes.txt").write_text(
        "".join(f"{at} has_part::{at}\n" for at in range(1, PARTS + 1))
    )
    (inner.parent / "images.txt").write_text(
        "".join(f"{at} 001.Bird/Bird_{at:05}.jpg\n" for at in range(1, images + 1))
    )
    present, certainty = _random_bits(images, PARTS), _certainties(images)
    path = inner / "image_attribute_labels.txt"
    with path.open("w") as file:
        for at, (row, sure) in enumerate(zip(present.tolist(), certainty.tolist(), strict=True)):
            extra = " 0" if at % 1000 == 999 else ""  # a few images have six fields a row
            for part, (shown, one) in enumerate(zip(row, sure, strict=True), start=1):
                file.write(f"{at + 1} {part} {int(shown)} {one}{extra} {7.0 + part % 9}\n")
    return path


def expected_celeba(images: int) -> npt.NDArray[np.float64]:
    """What the file of `write_celeba` says, of shape (images, 40)."""
    return _random_bits(images, ATTRIBUTES).astype(np.float64)


def expected_cub(images: int) -> npt.NDArray[np.float64]:
    """What the file of `write_cub` says, of shape (images, 312)."""
    present = _random_bits(images, PARTS).astype(np.float64)
    return np.where(_certainties(images) == 1, np.nan, present)


def measure(path: Path, expected: Callable[[int], npt.NDArray[np.float64]], images: int) -> None:
    """Read a file, print seconds and memory, and check the values."""
    before = _most_mb()
    started = time.perf_counter()
    found = read_truth(path)
    seconds, most = time.perf_counter() - started, _most_mb()
    np.testing.assert_array_equal(found.shows.to_numpy(), expected(images))
    print(
        f"{path.name}: {path.stat().st_size / 1e6:.0f} MB, {found.shows.shape}, {seconds:.1f} s, "
        f"{most - before:.0f} MB of memory above {before:.0f} MB; left out {dict(found.left_out)}",
        flush=True,
    )


def main() -> None:
    """Write both datasets' files, and measure reading them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=202_599)
    parser.add_argument("--birds", type=int, default=11_788)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        for write, expected, images in (
            (write_celeba, expected_celeba, given.images),
            (write_cub, expected_cub, given.birds),
        ):
            path = write(Path(name), images)
            process = get_context("spawn").Process(target=measure, args=(path, expected, images))
            process.start()
            process.join()
            if process.exitcode:
                sys.exit(f"{path.name} was not read as it was written.")


def _random_bits(rows: int, columns: int) -> npt.NDArray[np.bool_]:
    return np.random.default_rng(0).random((rows, columns)) < 0.1


def _certainties(images: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(1).choice([1, 2, 3, 4], p=_CERTAINTIES, size=(images, PARTS))


def _most_mb() -> float:
    """The most memory of this process; not from getrusage, which counts the parent's before."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
