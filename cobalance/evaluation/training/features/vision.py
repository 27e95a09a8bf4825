"""Features of a vision model of transformers, as it is, and their cache.

Runs of several methods and seeds read the same images with the same frozen model: features are kept
by the SHA-256 of an image's pixels, in one private file a model. What cannot be read, or is
damaged, is computed again.
"""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cobalance.base import make_file, make_folder
from cobalance.evaluation.training.examples import Examples, Floats, Pixels
from cobalance.evaluation.training.features.features import Features
from cobalance.vision import VisionModel

Singles = npt.NDArray[np.float32]
_TABLE = "CREATE TABLE IF NOT EXISTS features (image BLOB PRIMARY KEY, found BLOB, digest BLOB)"
_PATIENCE_S = 30  # while another worker writes


@dataclass(frozen=True)
class FeatureCache:
    """Features of one model in one file.

    Parameters
    ----------
    path : Path
        Of the SQLite database; it is made where there is none.
    """

    path: Path

    @classmethod
    def of_model(cls, folder: Path, about: Mapping[str, Any]) -> "FeatureCache":
        """The cache of a model in a folder; `about` is all that decides its features, for JSON."""
        text = json.dumps(about, sort_keys=True, default=str)
        return cls(folder / f"{hashlib.sha256(text.encode()).hexdigest()}.sqlite")

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Singles]:
        """The features that are known of some images, by `image_key`."""
        marks = ", ".join("?" * len(keys))
        query = f"SELECT image, found, digest FROM features WHERE image IN ({marks})"  # noqa: S608
        # A cache that cannot be read costs time alone.
        try:
            with self._open() as database:
                rows = database.execute(query, list(keys)).fetchall()
        except (sqlite3.Error, OSError):
            return {}
        return {
            image: np.frombuffer(values, np.float32)
            for image, values, digest in rows
            if digest == _digest(image, values)
        }

    def write(self, features: Mapping[bytes, Singles]) -> None:
        """Keep features of images."""
        rows = []
        for image, values in features.items():
            content = np.asarray(values, np.float32).tobytes()
            rows.append((image, content, _digest(image, content)))
        try:
            with self._open() as database, database:
                database.executemany("INSERT OR REPLACE INTO features VALUES (?, ?, ?)", rows)
        except (sqlite3.Error, OSError):
            return

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        if not self.path.exists():
            make_folder(self.path.parent)
            make_file(self.path)
        with closing(sqlite3.connect(self.path, timeout=_PATIENCE_S)) as database:
            database.execute(_TABLE)
            yield database


def image_key(image: Pixels) -> bytes:
    """SHA-256 of an image's size and pixels."""
    digest = hashlib.sha256(repr(image.shape).encode())
    digest.update(np.ascontiguousarray(image).tobytes())
    return digest.digest()


def _digest(image: bytes, values: bytes) -> bytes:
    return hashlib.sha256(image + values).digest()


@dataclass(frozen=True, eq=False)
class VisionFeatures(Features):
    """Pooled output of a vision model.

    Parameters
    ----------
    vision : VisionModel
        The model on its device.
    pooled : callable
        Takes the model and a batch of pixels, gives a tensor, shape (n_images, n_features).
    cache : FeatureCache or None
        Where features are kept, see `with_cache`.
    """

    vision: VisionModel
    pooled: Callable[[Any, Any], Any]
    cache: FeatureCache | None = None

    def with_cache(self, folder: Path) -> "VisionFeatures":
        """The features, of which each image's are computed once and kept in a folder.

        They are of this model, its weights, precision and preprocessing.
        """
        about = self.vision.describe() | {
            "processor": self.vision.processor.to_dict(),
            "pooled": f"{self.pooled.__module__}.{self.pooled.__qualname__}",
        }
        # The weights are known by their digest, and may have several names.
        del about["model"], about["revision"]
        return replace(self, cache=FeatureCache.of_model(folder, about))

    def read(self, images: Examples) -> Floats:
        """Features of images, shape (n_images, n_features)."""
        pictures = map(images.read, map(np.array, self.vision.batches(range(len(images)))))
        return np.concatenate(list(map(self._of_batch, pictures))).astype(np.float64)

    def _of_batch(self, pictures: list[Pixels]) -> Singles:
        if self.cache is None:
            return self._compute(pictures)

        keys = list(map(image_key, pictures))
        features = self.cache.read(keys)
        # Equal pictures have one key, and are computed once.
        pairs = zip(keys, pictures, strict=True)
        missing = {key: picture for key, picture in pairs if key not in features}
        if missing:
            new_features = dict(zip(missing, self._compute(list(missing.values())), strict=True))
            self.cache.write(new_features)
            features |= new_features
        return np.stack([features[key] for key in keys])

    def _compute(self, pictures: list[Pixels]) -> Singles:
        with self.vision.computing(f"features of {len(pictures)} images"):
            pixels = self.vision.pixels(pictures)
            features: Singles = self.pooled(self.vision.model, pixels).float().cpu().numpy()
        return features
