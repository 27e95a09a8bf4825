"""Paths of mask files."""

from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from cobalance.generation.sources.mask_settings import PLACEHOLDER, MaskSettings
from cobalance.generation.sources.unusable import UnusableError


def mask_path(settings: MaskSettings, image_id: str, uri: str) -> Path:
    """Path of an image's mask file; UnusableError if it would be outside the folder.

    Examples
    --------
    >>> settings = MaskSettings(masks="files", mask_folder="masks", mask_pattern="{path}_m.png")
    >>> mask_path(settings, "7", "birds/007.jpg").as_posix()
    'masks/birds/007_m.png'
    """
    folder = Path(settings.mask_folder or "")
    address = urlsplit(uri).path if "://" in uri else uri
    pure = PurePosixPath(address)
    values = {"id": image_id, "stem": pure.stem, "path": str(pure.with_suffix("")).lstrip("/")}
    inside = PLACEHOLDER.sub(lambda found: values[found[1]], settings.mask_pattern)
    path = folder / inside
    if "\0" in inside or not path.resolve().is_relative_to(folder.resolve()):
        raise UnusableError(
            "has a mask file outside of the folder", "Rename the image", f"{inside!r}"
        )
    return path
