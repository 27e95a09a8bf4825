"""Give images a class or a split that another place than their reader names."""

from dataclasses import replace

import numpy as np

from cobalance.base import ALL_IMAGES, Annotations
from cobalance.ingest.frames import drop_zeros
from cobalance.ingest.names import Coded, categorical, recode_names

NO_CLASS = "so no image has one"
"""End of a reader's note on images without classes."""


def has_classes(annotations: Annotations) -> bool:
    """Whether a reader found a class for any image."""
    return annotations.images["class_name"].cat.categories.tolist() != [ALL_IMAGES]


def with_class(
    annotations: Annotations, column: Coded, reason: str, several: int = 0
) -> Annotations:
    """Replace the classes; images of the code -1 are set aside, several for more than one class."""
    missing = int((column.codes < 0).sum())
    aside = {reason: missing - several, "images of more than one class": several}

    classified = replace(
        annotations,
        images=annotations.images.assign(class_name=categorical(column.codes, column.names)),
        notes=tuple(note for note in annotations.notes if not note.endswith(NO_CLASS)),
        set_aside={**annotations.set_aside, **drop_zeros(aside)},
    )
    if not missing:
        return classified
    return classified.take(np.flatnonzero(column.codes >= 0))


def with_split(annotations: Annotations, column: Coded) -> Annotations:
    """Replace the splits of the images whose code is not -1."""
    earlier = annotations.images["split"].cat
    names = [*earlier.categories, *column.names]
    # The new names come after those that images have.
    codes = np.where(column.codes < 0, earlier.codes, column.codes + len(earlier.categories))
    both = recode_names(codes, names)
    return replace(
        annotations, images=annotations.images.assign(split=categorical(both.codes, both.names))
    )
