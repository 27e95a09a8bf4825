"""Masks by image: paths of mask files, and a cache of masks from a model."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from math import prod
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from cobalance.generation.sources.mask_settings import PLACEHOLDER, MaskSettings, UnusableError
from cobalance.vision import MaskArray

KEPT = 64
"""Images whose masks are remembered: 77 KB for two masks of 640 × 480 pixels."""

_Packed = dict[str, tuple[tuple[int, ...], npt.NDArray[np.uint8]]]


class MaskCache:
    """Thread-safe cache of the masks that were used last, as bits, and of the reasons for none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, _Packed | tuple[str, str, str]] = OrderedDict()

    def masks(
        self, key: Hashable, find: Callable[[], Mapping[str, MaskArray]]
    ) -> dict[str, MaskArray]:
        """Masks by name, found the first time.

        Parameters
        ----------
        find : callable
            Finds the masks. Of its errors, UnusableError is remembered and raised again.
        """
        with self._lock:
            entry = self._kept.get(key)
            if entry is not None:
                self._kept.move_to_end(key)

        if entry is None:
            try:
                entry = {name: (mask.shape, np.packbits(mask)) for name, mask in find().items()}
            except UnusableError as error:
                # Its texts alone: a traceback would keep frames alive.
                entry = error.problem, error.remedy, error.detail
            with self._lock:
                self._kept[key] = entry
                self._kept.move_to_end(key)
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)

        if isinstance(entry, tuple):
            raise UnusableError(*entry)
        return {
            name: np.unpackbits(bits, count=prod(shape)).view(np.bool_).reshape(shape)
            for name, (shape, bits) in entry.items()
        }


def mask_path(settings: MaskSettings, image_id: str, uri: str) -> Path:
    """Path of an image's mask file; UnusableError if it would be outside the folder.

    Examples
    --------
    >>> settings = MaskSettings(masks="files", mask_folder="masks", mask_pattern="{path}_m.png")
    >>> mask_path(settings, "7", "birds/007.jpg").as_posix()
    'masks/birds/007_m.png'
    """
    folder = Path(settings.mask_folder or "")
    pure = PurePosixPath(urlsplit(uri).path if "://" in uri else uri)
    values = {"id": image_id, "stem": pure.stem, "path": str(pure.with_suffix("")).lstrip("/")}
    inside = PLACEHOLDER.sub(lambda match: values[match[1]], settings.mask_pattern)

    path = folder / inside
    # An id or an address may hold "..".
    if "\0" in inside or not path.resolve().is_relative_to(folder.resolve()):
        raise UnusableError(
            "has a mask file outside of the folder", "Rename the image", f"{inside!r}"
        )
    return path
