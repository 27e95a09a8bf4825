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
        reason = f"the field {column!r} holds {values.type}, not names"
        raise InputError(file, None, reason, choose)
    names = encode_names(pc.cast(values, TEXT))
    image, code = found.image, names.codes
    told = (image >= 0) & ~names.empty
    if (faulty := np.flatnonzero(told & (code < 0))).size:
        reason = f"the cluster {names.fault(int(faulty[0]))}"
        raise InputError(file, _name(annotations, image[faulty[0]]), reason, "Correct it.")
    image, code = image[told], code[told]
    of_image = np.full(len(annotations.images), -1, dtype=np.int64)
    of_image[image] = code
    if (second := np.flatnonzero(of_image[image] != code)).size:
        both = [names.names[at] for at in (code[second[0]], of_image[image[second[0]]])]
        reason = "is in the clusters {!r} and {!r}".format(*both)
        raise InputError(file, _name(annotations, image[second[0]]), reason, "Give it one.")
    others = {name: kept for name, kept in found.columns.items() if name != column}
    return replace(
        annotations,
        images=annotations.images.assign(cluster=categorical(of_image, names.names)),
        metadata=tuple(
            replace(part, columns=others) if part is found else part
            for part in annotations.metadata
        ),
    )


def _name(annotations: Annotations, row: int) -> str:
    return f"image {annotations.images['id'].iloc[row]!r}"
