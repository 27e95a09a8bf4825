"""Captions of images."""

import pandas as pd

from cobalance.graph.errors import OptionError


def captions_by_image(captions: pd.DataFrame, name: str = "references") -> dict[str, list[str]]:
    """The captions of each image, without empty ones.

    Raises
    ------
    OptionError
        A column is missing.
    """
    for column in ("image", "caption"):
        if column not in captions:
            raise OptionError(
                f"{name} have no column {column}, and have {', '.join(map(str, captions))}. Add it."
            )
    found: dict[str, list[str]] = {}
    for image, caption in zip(captions["image"], captions["caption"], strict=True):
        if not pd.isna(caption) and str(caption).strip():
            found.setdefault(str(image), []).append(str(caption))
    return found
