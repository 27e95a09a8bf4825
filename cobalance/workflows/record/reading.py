"""Read a bias record back: the same counts, and from them the same numbers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import InputError, IntArray, decode_json, read_within
from cobalance.counting import Cliques, Clustering, MiningOptions
from cobalance.workflows.record.document import (
    CLASSES,
    COMBINATIONS,
    CONCEPTS,
    DESIGN_EFFECTS,
    EXAMINATION,
    PROPERTIES,
)
from cobalance.workflows.record.examination import Bits, Examination

_REMEDY = "Write it anew with cobalance record."
# Records of a million combinations in two classes take as much.
MOST_BYTES = 1 << 28
_FAULTS = (ValueError, LookupError, TypeError, AttributeError, OverflowError)


def read_record(file: Path) -> Examination:
    """Read a record that `write_document` wrote, or an export's metadata that has one.

    Raises
    ------
    InputError
        There is none, or it is damaged.
    """
    content = read_within(file, MOST_BYTES, "a bias record", "Name a bias record.")
    try:
        return _parse(decode_json(content))
    except _FAULTS as error:
        reason = f"is no bias record ({type(error).__name__}: {error})"
        raise InputError(str(file), None, reason[:300], _REMEDY) from error


def _parse(document: Any) -> Examination:
    frames = {part["@id"]: _frame(part) for part in document["recordSet"]}
    nothing = pd.DataFrame(columns=["concept", "concepts", "images"])
    (examination,) = frames[EXAMINATION].to_dict("records")

    classes, concepts = frames[CLASSES], frames.get(CONCEPTS, nothing)
    names, concept_names = _names(classes["class"]), _names(concepts["concept"])
    sizes = _counts(classes["images"], (len(names),))
    cliques = _cliques(frames.get(COMBINATIONS, nothing), concept_names, names, sizes)
    if (cliques.counts > sizes).any():
        raise ValueError("a combination has more images than its class")

    without = bits = None
    if "without_concepts" in classes:
        without = _counts(classes["without_concepts"], (len(names),))
    if "bits" in examination:
        value, error = float(examination["bits"]), float(examination["bits_error"])
        bits = Bits(value, error, float(examination["most_bits"]))

    return Examination(
        name=str(examination["dataset"]),
        source=str(examination["source"]),
        query=str(examination["query"]),
        options=MiningOptions.from_json(examination["mining"]),
        cliques=cliques,
        concepts=concept_names,
        concept_images=_counts(concepts["images"], (len(concepts), len(names))),
        without_concepts=without,
        bits=bits,
        n_across=int(examination["groups_across_splits"]),
        properties=frames.get(PROPERTIES),
        n_generated=int(examination["generated_images"]),
        n_left_out=int(examination["left_out_images"]),
        activities=tuple(document.get("prov:wasGeneratedBy", ())),
        made_with=str(examination["made_with"]),
    )


def _frame(part: Mapping[str, Any]) -> pd.DataFrame:
    """The records of a set, by the names of its fields; none where a file has them."""
    frame = pd.DataFrame(part.get("data", []))
    return frame.rename(columns=lambda name: name.removeprefix(f"{part['@id']}/"))


def _names(column: pd.Series) -> tuple[str, ...]:
    """Names of classes or concepts, which stand in ascending order."""
    names = tuple(map(str, column))
    if list(names) != sorted({*names}):
        raise ValueError("names are not in order")
    return names


def _cliques(
    combinations: pd.DataFrame,
    concepts: tuple[str, ...],
    classes: tuple[str, ...],
    sizes: IntArray,
) -> Cliques:
    """Combinations with the codes of their concepts."""
    codes = dict(zip(concepts, range(len(concepts)), strict=True))
    n_concepts = combinations["concepts"].map(len)
    members = np.full((len(combinations), n_concepts.max() if len(n_concepts) else 1), -1, "int32")
    for place, names in enumerate(combinations["concepts"]):
        members[place, : len(names)] = sorted(map(codes.__getitem__, names))

    clustering = None
    if "freedom" in combinations:
        effects = {}
        for field, name in DESIGN_EFFECTS.items():
            effects[field] = np.array(combinations[name].tolist(), dtype=np.float64)
        clustering = Clustering(
            standing=_counts(combinations["clusters"], (len(combinations),)),
            freedom=combinations["freedom"].to_numpy(np.int64),
            **effects,
        )

    counts = _counts(combinations["images"], (len(combinations), len(classes)))
    return Cliques(members, counts, sizes, concepts, classes, clustering)


def _counts(column: pd.Series, shape: tuple[int, ...]) -> IntArray:
    """Counts of images as an array of a shape; ValueError for other values."""
    counts = np.array(column.tolist()).reshape(shape)
    if counts.size and (counts.dtype.kind != "i" or (counts < 0).any()):
        raise ValueError("a count of images is no whole number from 0 up")
    return counts.astype(np.int64)
