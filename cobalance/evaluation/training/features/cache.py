"""Cache of a model's features, by the SHA-256 of an image's pixels: one private file a model.

Runs of several methods and seeds read the same images with the same frozen model. What cannot be
read, or is damaged, is computed again.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cobalance.evaluation.training.examples import Pixels
from cobalance.graph.files import make_file, make_folder

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
        try:
            with self._open() as database:
                rows = database.execute(query, list(keys)).fetchall()
        except (sqlite3.Error, OSError):
            return {}
        return {
            image: np.frombuffer(found, np.float32)
            for image, found, digest in rows
            if digest == _digest(image, found)
        }

    def write(self, found: Mapping[bytes, Singles]) -> None:
        """Keep features of images."""
        texts = {image: np.asarray(one, np.float32).tobytes() for image, one in found.items()}
        rows = [(image, text, _digest(image, text)) for image, text in texts.items()]
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


def _digest(image: bytes, found: bytes) -> bytes:
    return hashlib.sha256(image + found).digest()
