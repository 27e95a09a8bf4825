"""Take the clusters of images from their metadata."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.graph.errors import InputError, Setting, suggest_names
from cobalance.graph.records import Annotations
from cobalance.ingest.frames import TEXT
from cobalance.ingest.names import categorical, encode_names


def take_clusters(annotations: Annotations, column: str | None, file: str) -> Annotations:
    """Give images the column ``cluster``, and take it out of the metadata; None changes nothing.

    Raises
    ------
    InputError
        No record has the column, its values are no names or numbers, or an image has two.
    """
    if column is None:
        return annotations
    found = next((part for part in annotations.metadata if column in part.columns), None)
    choose = ("Set ", Setting("cluster_column"), " to another.")
    if found is None:
        known = sorted({name for part in annotations.metadata for name in part.columns})
        reason = f"no image has a field {column!r}"
        raise InputError(file, None, reason, (suggest_names(column, known), " ", *choose))
    values = found.columns[column]
    if pa.types.is_floating(values.type) and pc.all(pc.equal(pc.floor(values), values)).as_py():
        values = pc.cast(values, pa.int64())
    if pa.types.is_nested(values.type) or pa.types.is_floating(values.type):
        raise InputError(file, None, f"the field {column!r} holds {values.type}, not names", choose)
    names = encode_names(pc.cast(values, TEXT))
    told = np.flatnonzero((found.image >= 0) & ~names.empty)
    image, code = found.image[told], names.codes[told]
    of_image = np.full(len(annotations.images), -1, dtype=np.int64)
    of_image[image] = code
    wrong = np.flatnonzero((code < 0) | (of_image[image] != code))
    if len(wrong):
        at, other = wrong[0], of_image[image[wrong[0]]]
        reason = f"the cluster {names.fault(int(told[at]))}"
        if code[at] >= 0:
            reason = f"is in the clusters {names.names[code[at]]!r} and {names.names[other]!r}"
        place = f"image {annotations.images['id'].iloc[image[at]]!r}"
        raise InputError(file, place, reason, "Give it one.")
    others = {name: kept for name, kept in found.columns.items() if name != column}
    left = (
        replace(part, columns=others) if part is found else part for part in annotations.metadata
    )
    images = annotations.images.assign(cluster=categorical(of_image, names.names))
    return replace(annotations, images=images, metadata=tuple(left))
