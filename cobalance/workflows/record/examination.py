"""Examine a dataset for biases: count and test its combinations."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cobalance.base import IntArray, Progress, silent, special
from cobalance.counting import (
    MAX_CLIQUES,
    Cliques,
    Incidence,
    MiningOptions,
    mine_cliques,
)
from cobalance.statistics import (
    MAX_Q_VALUE,
    by_evidence,
    concepts_alone,
    imbalance_table,
    with_clusters,
)
from cobalance.workflows.gate import rules as gate_rules, subjects

# So many of a hundred samples would show a lean of `Examination.smallest_differences`.
POWER = 0.8
FILE_OPTIONS = MiningOptions(max_size=2, common=())
"""How combinations of a file are counted; as of a gate, with what some class never shows."""
# Shares of all images that show a combination, for which the smallest difference is told.
_SHARES = (0.01, 0.1, 0.5)


class Difference(NamedTuple):
    """The smallest difference of two classes' rates that would be seen in `POWER` of samples."""

    share: float
    classes: tuple[str, str]
    difference: float


class Bits(NamedTuple):
    """Bits that concepts alone tell of the class, their standard error, and the most there are."""

    value: float
    error: float
    most: float


@dataclass(frozen=True, eq=False)
class Examination:
    """Combinations of a dataset that were counted and tested, and further measures.

    Parameters
    ----------
    name, source : str
        The dataset, and where its images were read from.
    query : str
        What gives the same numbers: a command.
    options : MiningOptions
        How `cliques` were mined.
    cliques : Cliques
        All combinations that were tested, with their images of each class.
    concepts, concept_images : tuple of str, int64 array of shape (n_concepts, n_classes)
        All concepts with their images, those that no combination has included.
    without_concepts : int64 array, shape (n_classes,), or None
        Images that show no concept; None where counts alone are known.
    bits : Bits or None
        What concepts alone tell of the class; None where counts alone are known.
    n_across : int
        Clusters, and groups of near duplicates, in several splits.
    properties : pandas.DataFrame or None
        From `separation_table`; None where image files were not measured.
    n_generated, n_left_out : int
        Generated images, and images that tags leave out of the counts.
    activities : tuple of mapping
        How generated images were made, in the terms of PROV-O, as far as that is known.
    made_with : str
        The program that examined it, with its version.
    """

    name: str
    source: str
    query: str
    options: MiningOptions
    cliques: Cliques
    concepts: tuple[str, ...]
    concept_images: IntArray
    without_concepts: IntArray | None = None
    bits: Bits | None = None
    n_across: int = 0
    properties: pd.DataFrame | None = None
    n_generated: int = 0
    n_left_out: int = 0
    activities: tuple[Mapping[str, Any], ...] = ()
    made_with: str = field(default_factory=lambda: f"cobalance {version('cobalance')}")

    @cached_property
    def table(self) -> pd.DataFrame:
        """All combinations with their statistics, see `imbalance_table`."""
        return imbalance_table(self.cliques, confidence=self.options.confidence)

    @cached_property
    def leans(self) -> pd.DataFrame:
        """The combinations that lean, the largest difference first."""
        return by_evidence(self.table[self.table["leans"]])

    @property
    def class_images(self) -> dict[str, int]:
        """The images of each class."""
        return self.cliques.class_images()

    @property
    def n_images(self) -> int:
        """All images that were counted."""
        return int(self.cliques.class_sizes.sum())

    @property
    def never_in_some_class(self) -> list[int]:
        """Rows of `concepts` that some class never shows, and that no combination has for that."""
        singles = self.cliques.take(self.cliques.sizes() == 1)
        tested = {*singles.names()}
        is_missing = (self.concept_images == 0).any(axis=1)

        rows = np.flatnonzero(is_missing).tolist()
        return [row for row in rows if (self.concepts[row],) not in tested]

    @property
    def n_absent(self) -> int:
        """Combinations that some class has in no image."""
        return int((self.cliques.counts == 0).any(axis=1).sum())

    def smallest_differences(self) -> list[Difference]:
        """The smallest differences that would have been seen, where images are independent.

        Of the two largest and of the two smallest classes, other classes at the rate of all images:
        by the noncentral chi-square distribution (Cohen, Statistical Power Analysis for the
        Behavioral Sciences, 1988, chapter 7), at the p-value that was enough in these data.
        """
        has_images = self.cliques.class_sizes > 0
        if np.count_nonzero(has_images) < 2 or not len(self.cliques) or self.cliques.clustering:
            return []

        by_size = np.argsort(np.where(has_images, self.cliques.class_sizes, -1))[::-1]
        present = by_size[: np.count_nonzero(has_images)]
        pairs = dict.fromkeys([tuple(present[:2].tolist()), tuple(present[-2:].tolist())])
        spread = self._noncentrality(len(present) - 1)
        return [self._difference(pair, share, spread) for pair in pairs for share in _SHARES]

    def _noncentrality(self, degrees: int) -> float:
        """The noncentrality at which a test has the power, at the p-value that is enough."""
        p_values = self.table["p_value"].to_numpy(np.float64)
        p_enough = p_values[self.table["leans"]].max(initial=MAX_Q_VALUE / len(p_values))
        critical = special.chdtri(degrees, p_enough)
        return float(special.chndtrinc(critical, degrees, 1 - POWER))

    def _difference(self, pair: tuple[int, ...], share: float, spread: float) -> Difference:
        first, second = self.cliques.class_sizes[list(pair)].tolist()
        informative = first + second - (first - second) ** 2 / self.n_images
        difference = float(np.sqrt(4 * spread * share * (1 - share) / informative))
        names = (self.cliques.classes[pair[0]], self.cliques.classes[pair[1]])
        return Difference(share, names, min(difference, 1.0))


def examine_file(file: Path, rules: gate_rules.Rules, progress: Progress = silent) -> Examination:
    """Examine a file, which is read as `rules.read` says.

    Raises
    ------
    InputError, OptionError
        The file, or an option of reading it, cannot be used.
    DataError
        It has no two classes with images.
    """
    return examine_subject(subjects.from_file(file, rules, progress), f"cobalance record {file}")


def examine_subject(subject: subjects.Subject, query: str) -> Examination:
    """Examine annotations that were read; DataError where no two classes have images."""
    examined = examine_images(subject.incidence(), FILE_OPTIONS, subject.name)
    return replace(
        examined,
        source=subject.source,
        query=query,
        n_across=count_groups(subject.across),
        n_generated=int(subject.images["synthetic"].sum()),
    )


def count_groups(across: pd.DataFrame) -> int:
    """Clusters, and groups of near duplicates, in a table of those in several splits."""
    return int(across.groupby(["what", "group"]).ngroups)


def measure_bits(incidence: Incidence) -> Bits | None:
    """Measure the bits that concepts alone tell; None where nothing can be learned."""
    reading = concepts_alone(incidence)
    return Bits(reading.bits, reading.error, reading.most) if reading.most else None


def examine_images(incidence: Incidence, options: MiningOptions, name: str) -> Examination:
    """Count and test the combinations of images in memory."""
    cliques = mine_cliques(
        incidence,
        max_size=options.max_size,
        min_support=options.min_support,
        common=options.common,
        max_cliques=MAX_CLIQUES,
    )
    return Examination(
        name=name,
        source=name,
        query="",
        options=options,
        cliques=with_clusters(cliques, incidence),
        concepts=incidence.concepts,
        concept_images=incidence.class_concept_counts().T,
        without_concepts=incidence.without_concepts(),
        bits=measure_bits(incidence),
    )
