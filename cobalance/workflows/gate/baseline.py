"""Baseline of a gate: findings that pass, as a small file for version control."""

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pandas.util import hash_array
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cobalance.base import (
    BoolArray,
    DataError,
    InputError,
    IntArray,
    first_fault,
    positions_of,
    read_within,
    replacing,
)
from cobalance.counting import Incidence
from cobalance.statistics import wilson
from cobalance.workflows.gate.measures import Leans, Reading
from cobalance.workflows.gate.rules import LeanRule, Rules
from cobalance.workflows.gate.subjects import Subject

VERSION = 1
ABSENT = -1
"""The place of a combination that a baseline does not have."""
_REMEDY = "Write it anew with --write-baseline."
# So many images tell the share that is still there to within two points.
_SAMPLE = 256
_MOST_BYTES = 1 << 26
_Hashes = npt.NDArray[np.uint64]
_Count = Annotated[int, Field(ge=0)]
_Digests = Annotated[str, Field(pattern="^[0-9a-f]{16} [0-9a-f]{8}$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KnownLean(_Part):
    """A combination of the baseline: whether it broke a rule, and its images of each class."""

    concepts: tuple[str, ...]
    breaks: bool
    images: tuple[_Count, ...]


class KnownReading(_Part):
    """A number of the baseline that was beyond its limit."""

    rule: str
    of: str
    value: float
    error: float


class Baseline(_Part):
    """Findings that pass, with the counts to compare later ones with.

    Parameters
    ----------
    dataset : str
        The name of the file or dataset.
    classes : mapping of str to int
        The images of each class.
    rules : tuple of LeanRule
        The rules by which `leans` were found.
    leans : tuple of KnownLean
        Combinations that break one of them, or nearly do, with counts in the order of `classes`.
    readings : tuple of KnownReading
        What breaks other rules.
    sample : tuple of str
        Images that chance chose: each the digest of its id, and that of its contents.
    """

    version: int
    dataset: str
    classes: Mapping[str, _Count]
    rules: tuple[LeanRule, ...]
    leans: tuple[KnownLean, ...]
    readings: tuple[KnownReading, ...]
    sample: tuple[_Digests, ...]

    def to_json(self) -> str:
        """As JSON text with a line for each combination, number and image, sorted."""
        content = self.model_dump(mode="json")

        lines = [f'"version": {self.version}', f'"dataset": {_text(self.dataset)}']
        parts = ("classes", "rules", "leans", "readings", "sample")
        lines += [f'"{name}": {_lines(content[name])}' for name in parts]

        return "{\n" + ",\n".join(lines) + "\n}\n"

    def counts(self, classes: Sequence[str]) -> IntArray:
        """The images of each combination in `leans` by class, and a last row of none."""
        codes = [[*self.classes].index(name) for name in classes]
        rows = [lean.images for lean in self.leans]

        counts = np.array([*rows, [0] * len(self.classes)], dtype=np.int64)
        return counts[:, codes]

    def breaking(self) -> BoolArray:
        """Which combinations in `leans` broke a rule, and a last one that did not."""
        return np.array([*(lean.breaks for lean in self.leans), False], dtype=np.bool_)

    def places(self) -> dict[tuple[str, ...], int]:
        """Where each combination is in `leans`."""
        return positions_of([lean.concepts for lean in self.leans])

    def share_kept(self, subject: Subject, incidence: Incidence) -> float:
        """The least share of the images that a subject still has, with the same contents.

        That is the lower end of Wilson's interval for the share of the sample.

        Raises
        ------
        DataError
            It has none of the images.
        """
        ids, contents = _digests(subject, incidence)
        sampled_ids = [int(digest.split(" ")[0], 16) for digest in self.sample]
        is_sampled = np.isin(ids, np.array(sampled_ids, dtype=np.uint64))
        if self.sample and not is_sampled.any():
            raise DataError(
                f"The baseline is of {self.dataset!r}, and {subject.name!r} has none of its "
                f"images. {_REMEDY}"
            )

        digests = _texts(ids[is_sampled], contents[is_sampled])
        n_equal = len({*digests}.intersection(self.sample))
        return float(wilson(np.array(n_equal), np.array(max(len(self.sample), 1)))[0])

    def check(self, rules: Rules, classes: Collection[str]) -> None:
        """Raise DataError for a baseline by other rules of leans, or of other classes."""
        if self.rules != rules.leans:
            raise DataError(f"The baseline was written by other rules of leans. {_REMEDY}")
        if any(len(lean.images) != len(self.classes) for lean in self.leans):
            raise DataError(f"The baseline has counts of other classes than it names. {_REMEDY}")
        if {*self.classes} != {*classes}:
            names = ", ".join(sorted({*self.classes} ^ {*classes})[:5])
            raise DataError(f"The baseline has other classes: {names}. {_REMEDY}")


def make_baseline(
    subject: Subject,
    incidence: Incidence,
    leans: Sequence[Leans],
    readings: Sequence[Reading],
    *,
    watched: Sequence[IntArray] | None = None,
) -> Baseline:
    """Make the baseline of a subject; `watched` are rows of each of `leans`, or the near ones."""
    lean_of: dict[tuple[str, ...], KnownLean] = {}
    for number, part in enumerate(leans):
        rows: IntArray = np.flatnonzero(part.is_near)
        if watched is not None:
            rows = watched[number]

        breaks, names = part.breaks, part.cliques.take(rows).names()
        for row, concepts in zip(rows.tolist(), names, strict=True):
            # A combination may break another rule, too.
            broke = concepts in lean_of and lean_of[concepts].breaks
            images = tuple(part.cliques.counts[row].tolist())
            lean_of[concepts] = KnownLean(
                concepts=concepts, breaks=broke or bool(breaks[row]), images=images
            )

    beyond = [reading for reading in readings if reading.breaks]
    values = [
        KnownReading(rule=part.rule, of=part.of, value=part.value, error=part.error)
        for part in beyond
    ]
    sizes = zip(incidence.classes, incidence.class_sizes().tolist(), strict=True)
    return Baseline(
        version=VERSION,
        dataset=subject.name,
        classes=dict(sizes),
        rules=tuple(part.rule for part in leans),
        leans=tuple(lean_of[concepts] for concepts in sorted(lean_of)),
        readings=tuple(sorted(values, key=lambda part: (part.rule, part.of))),
        sample=_draw_sample(subject, incidence),
    )


def read_baseline(file: Path) -> Baseline:
    """Read a baseline that `write_baseline` wrote.

    Raises
    ------
    InputError
        There is none, it is damaged, or of another version.
    """
    content = read_within(file, _MOST_BYTES, "a baseline", _REMEDY)
    try:
        baseline = Baseline.model_validate_json(content)
    except ValidationError as error:
        fault = first_fault(error)
        raise InputError(str(file), fault.place or None, fault.reason, _REMEDY) from error
    if baseline.version != VERSION:
        reason = f"is of version {baseline.version}, and this cobalance writes {VERSION}"
        raise InputError(str(file), "version", reason, _REMEDY)
    return baseline


def write_baseline(file: Path, baseline: Baseline) -> None:
    """Write a baseline; the file is there whole, or as it was before."""
    with replacing(file) as path:
        path.write_text(baseline.to_json(), encoding="utf-8")


def _draw_sample(subject: Subject, incidence: Incidence) -> tuple[str, ...]:
    """The digests of the images that come first by the digest of their id.

    These are a random part of the images, and mostly the same ones when images are added.
    """
    ids, contents = _digests(subject, incidence)
    first = np.argsort(ids)[:_SAMPLE]
    return tuple(_texts(ids[first], contents[first]))


def _digests(subject: Subject, incidence: Incidence) -> tuple[_Hashes, _Hashes]:
    """A digest of each image's id, and one of its class and concepts."""
    ids = hash_array(subject.images["id"].to_numpy(object), categorize=False)
    concepts = hash_array(np.array(incidence.concepts, dtype=object), categorize=False)
    classes = hash_array(np.array(incidence.classes, dtype=object), categorize=False)

    # A sum is the same in whatever order an image has its concepts.
    contents = incidence.sum_rows(concepts.view(np.int64)).view(np.uint64)
    return ids, contents ^ classes[incidence.labels]


def _texts(ids: _Hashes, contents: _Hashes) -> list[str]:
    """Digests in hexadecimal: the id's, and the first half of the contents'."""
    halves = contents >> np.uint64(32)
    return [f"{of_id:016x} {half:08x}" for of_id, half in zip(ids, halves, strict=True)]


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lines(value: Any) -> str:
    """A list or object as JSON with a line for each of its parts."""
    if isinstance(value, dict):
        parts = [f"{_text(name)}: {_text(part)}" for name, part in sorted(value.items())]
        return "{\n " + ",\n ".join(parts) + "\n}"
    return "[\n " + ",\n ".join(map(_text, value)) + "\n]" if value else "[]"
