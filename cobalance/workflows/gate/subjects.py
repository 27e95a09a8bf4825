"""Subjects of a gate: annotations of a file, without a database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import TypeAdapter, ValidationError

from cobalance.base import (
    Annotations,
    DataError,
    OptionError,
    Progress,
    check_known,
    first_fault,
    silent,
)
from cobalance.counting import Incidence, incidence_of
from cobalance.ingest import ReadOptions, plain_option, read_annotations
from cobalance.statistics import groups_across_splits
from cobalance.workflows.diagnose.findings import not_compared
from cobalance.workflows.gate.rules import Rules

ACROSS = ["what", "group", "splits", "id"]
"""Columns of what stands in several splits."""


@dataclass(frozen=True, eq=False)
class Subject:
    """Annotations to judge.

    Parameters
    ----------
    source, split : str
        The file or dataset, as the user named it, and the split that is judged; empty for all.
    annotations : Annotations
        Its images.
    across : pandas.DataFrame
        Clusters and near duplicates in several splits: ``what``, ``group``, ``splits``, ``id``.
    properties : pandas.DataFrame or None
        From `separation_table`; None where the image files were not measured.
    """

    source: str
    annotations: Annotations
    across: pd.DataFrame
    properties: pd.DataFrame | None = None
    split: str = ""

    @property
    def name(self) -> str:
        """The source with its split."""
        return f"{self.source} ({self.split})" if self.split else self.source

    @property
    def images(self) -> pd.DataFrame:
        """A row an image."""
        return self.annotations.images

    def incidence(self) -> Incidence:
        """The images as counting takes them.

        Raises
        ------
        DataError
            There are no two classes with images.
        """
        incidence = incidence_of(self.annotations)
        sizes = dict(zip(incidence.classes, incidence.class_sizes().tolist(), strict=True))
        if reason := not_compared(sizes):
            raise DataError(f"{self.name}: {reason[:1].lower()}{reason[1:]}")
        return incidence

    def of_split(self, split: str) -> "Subject":
        """The images of one split.

        Raises
        ------
        UnknownNameError
            No image is of it.
        """
        splits = self.images["split"]
        check_known("split", [split], sorted(map(str, splits.dropna().unique())))
        rows = np.flatnonzero((splits == split).to_numpy())
        part = self.annotations.take(rows)
        return replace(self, split=split, annotations=part)

    def images_of(self, concepts: Sequence[str]) -> pd.DataFrame:
        """The images that show all of some concepts: ``class``, ``id``, ``uri``.

        Raises
        ------
        UnknownNameError
            No image shows one of them.
        """
        incidence = incidence_of(self.annotations)
        check_known("concept", concepts, incidence.concepts)
        is_wanted = np.array([name in concepts for name in incidence.concepts])
        rows = np.flatnonzero(incidence.sum_rows(is_wanted) == len({*concepts}))
        images = self.images.iloc[rows].rename(columns={"class_name": "class"})
        return images[["class", "id", "uri"]].reset_index(drop=True)


def locate(subject: str | None, rules: Rules, rules_file: Path | None) -> tuple[str, Path | None]:
    """Find the name to judge, and its file; None instead of that for a dataset of the store.

    A file is there, or its name looks like a path. One that rules name is beside them.

    Raises
    ------
    OptionError
        Neither the user nor the rules name anything.

    Examples
    --------
    >>> locate("my cars", Rules(), None), locate("train.csv", Rules(), None)[0]
    (('my cars', None), 'train.csv')
    """
    name = subject or rules.data
    if name is None:
        raise OptionError("Name a file or dataset, or `data` in the rules.")

    path = Path(name)
    looks_like_a_path = path.suffix != "" or len(path.parts) > 1
    if not subject and rules_file is not None:
        path = rules_file.parent / name
    return name, path if looks_like_a_path or path.exists() else None


def from_file(file: Path, rules: Rules, progress: Progress = silent) -> Subject:
    """Read a file as the rules say.

    Raises
    ------
    InputError, OptionError
        The file, or an option of reading it, cannot be used.
    """
    options = replace(_read_options(rules.read), outlines=False)
    annotations = read_annotations(file, options, rules.read.get("input_format"), progress)
    return from_annotations(annotations, str(file))


def from_annotations(annotations: Annotations, name: str) -> Subject:
    """Take annotations that were read; clusters are looked for in several splits."""
    across = pd.DataFrame(columns=ACROSS)
    images = annotations.images
    if "cluster" in images and images["split"].notna().any():
        clusters = images[["id", "split", "cluster"]].rename(columns={"cluster": "group"})
        across = groups_across_splits(clusters.assign(what="cluster"))
    return Subject(name, annotations, across)


def _read_options(values: Mapping[str, Any]) -> ReadOptions:
    """Reader options from a TOML table; OptionError for one that cannot be used."""
    names = {*ReadOptions.__dataclass_fields__, "input_format"}
    check_known("option of reading", values, sorted(names))

    options = {name: plain_option(name, values[name]) for name in values if name != "input_format"}
    try:
        return TypeAdapter(ReadOptions).validate_python(options)
    except ValidationError as error:
        fault = first_fault(error)
        raise OptionError(
            f"The option of reading {fault.place}: {fault.reason} (it is {fault.value!r:.60})."
        ) from error
