"""Measures of a gate: leans of concept combinations, and single readings of other rules."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cobalance.base import (
    BoolArray,
    DataError,
    FloatArray,
    IntArray,
    Text,
    check_known,
    inflect,
    special,
)
from cobalance.counting import Cliques, Incidence, count_chosen, mine_cliques
from cobalance.statistics import (
    clustered_p_values,
    concepts_alone,
    homogeneity_test,
    rate_differences,
    with_clusters,
)
from cobalance.statistics.q_values import q_values
from cobalance.workflows.gate.rules import LeanRule, Rules
from cobalance.workflows.gate.subjects import Subject

LEANS, COMBINATIONS, CLASSES = "leans", "combination images", "class images"
ALONE, SPLITS, PROPERTIES, COVERAGE = "concepts alone", "splits", "properties", "coverage"
# A combination whose evidence or effect is nearly enough is watched: it is in a baseline, so that
# the little that further images change does not make it new.
_NEAR_Q, _NEAR_DIFFERENCE = 50, 0.5


@dataclass(frozen=True, eq=False)
class Leans:
    """Combinations that were tested for one rule.

    Parameters
    ----------
    rule : LeanRule
        The rule.
    cliques : Cliques
        Those that are frequent enough to break it.
    p_values, differences : float arrays, shape (n_cliques,)
        Of one rate in all classes; the largest rate less the smallest.
    classes : int array, shape (n_cliques, 2)
        Codes of the classes with the highest and with the lowest rate.
    """

    rule: LeanRule
    cliques: Cliques
    p_values: FloatArray
    differences: FloatArray
    classes: IntArray

    @cached_property
    def q_values(self) -> FloatArray:
        """Benjamini-Hochberg over the combinations."""
        return q_values(self.p_values)

    @property
    def breaks(self) -> BoolArray:
        """Which combinations break the rule."""
        is_evident = self.q_values <= self.rule.max_q
        return is_evident & (self.differences >= self.rule.min_difference)

    @property
    def is_near(self) -> BoolArray:
        """Which ones do, or nearly do."""
        return self._is_nearly_evident & (self.differences >= self.near_difference)

    @property
    def near_difference(self) -> float:
        """The smallest difference that is nearly enough."""
        return _NEAR_DIFFERENCE * self.rule.min_difference

    def largest_missed(self) -> FloatArray:
        """The share of its difference that each may have had while it was not near.

        That is as much as leaves it without evidence, in standard errors, or below the smallest
        difference that is nearly enough.
        """
        n = max(len(self.p_values), 1)
        p_values = self.p_values[self._is_nearly_evident]
        p_near = p_values.max(initial=self._near_q / n)
        z_near, z_values = special.ndtri(1 - p_near / 2), -special.ndtri(self.p_values / 2)
        by_evidence = z_near / np.maximum(z_values, 1e-9)
        by_effect = self.near_difference / np.maximum(self.differences, 1e-9)
        return np.minimum(np.maximum(by_evidence, by_effect), 1.0)

    @property
    def _near_q(self) -> float:
        return min(0.5, _NEAR_Q * self.rule.max_q)

    @property
    def _is_nearly_evident(self) -> BoolArray:
        return self.q_values <= self._near_q


@dataclass(frozen=True)
class Reading:
    """One number that a rule limits.

    Parameters
    ----------
    rule, of : str
        The rule, and the class, combination, cluster, property or column that the number is of.
    value, limit : float
        The number, and what it may be.
    at_most : bool
        Whether the limit is the most that it may be, not the least.
    text : Text
        A sentence with the number.
    error : float
        The number's standard error; 0 for a count.
    """

    rule: str
    of: str
    value: float
    limit: float
    at_most: bool
    text: Text
    error: float = 0.0

    @property
    def breaks(self) -> bool:
        """Whether the number is beyond its limit."""
        return self.value > self.limit if self.at_most else self.value < self.limit


def measure_leans(incidence: Incidence, rule: LeanRule) -> Leans:
    """Count and test the combinations of a rule.

    Left out are those that too few images show for the difference of the rule to be possible: how
    many show them, in all classes together, does not depend on whether they lean, so that fewer
    are tested without any bias (Bourgon, Gentleman and Huber, PNAS 107, 2010).

    Raises
    ------
    UnknownNameError
        The rule names a concept, or a column, that no image shows.
    """
    sizes = incidence.class_sizes()
    smallest = int(sizes[sizes > 0].min())
    least = max(1, int(np.ceil(rule.min_difference * smallest)))

    # Counts of all classes together choose the tests.
    group = restrict(incidence, rule.concepts)
    mined = mine_cliques(group, max_size=rule.max_size, min_support=1, common=())
    cliques = mined.take(mined.counts.sum(axis=1) >= least)
    cliques = with_clusters(cliques, group)

    differences, highest, lowest = rate_differences(cliques.counts, cliques.class_sizes)
    return Leans(
        rule=rule,
        cliques=cliques,
        p_values=_p_values(cliques),
        differences=differences,
        classes=np.stack([highest, lowest], axis=1),
    )


def _p_values(cliques: Cliques) -> FloatArray:
    """Of one rate in all classes; rare ones class by class, as a grid takes seconds."""
    if cliques.clustering is not None:
        return clustered_p_values(cliques)[0]
    return homogeneity_test(cliques.counts, cliques.class_sizes, quick=True)[0]


def restrict(incidence: Incidence, concepts: Sequence[str]) -> Incidence:
    """The images with some concepts alone; a name stands for all that begin with it and a colon."""
    if not concepts:
        return incidence

    columns = [name.partition(": ")[0] for name in incidence.concepts]
    check_known("concept or column", concepts, sorted({*columns, *incidence.concepts}))

    is_in_group = [
        name in concepts or column in concepts
        for name, column in zip(incidence.concepts, columns, strict=True)
    ]
    return incidence.restrict(np.array(is_in_group, dtype=np.bool_))


def counts_of(incidence: Incidence, cliques: Cliques) -> Cliques:
    """The same combinations, counted in other images of the same classes."""
    counts = count_chosen(incidence, cliques.names())
    return replace(cliques, counts=counts, class_sizes=incidence.class_sizes(), clustering=None)


def measure_readings(subject: Subject, incidence: Incidence, rules: Rules) -> list[Reading]:
    """Measure each number that a rule limits, leans left out."""
    readings = _class_readings(incidence, rules.min_class_images)
    for rule in rules.leans:
        readings += _combination_readings(incidence, rule)

    if rules.max_bits is not None:
        readings.append(_told_reading(incidence, rules.max_bits))
    if rules.separate_splits:
        readings += _split_readings(subject)
    if rules.max_property_auc is not None:
        readings += _property_readings(subject, rules.max_property_auc)
    for column, share in rules.coverage.items():
        readings.append(_coverage_reading(incidence, column, share))
    return readings


def _class_readings(incidence: Incidence, least: int) -> list[Reading]:
    sizes = zip(incidence.classes, incidence.class_sizes().tolist(), strict=True)
    return [
        Reading(CLASSES, name, n, least, False, f"{name} has {inflect(n, 'images')}")
        for name, n in sizes
    ]


def _combination_readings(incidence: Incidence, rule: LeanRule) -> list[Reading]:
    """The combinations of a rule that some class shows in too few images."""
    if not rule.min_images:
        return []

    group = restrict(incidence, rule.concepts)
    cliques = mine_cliques(group, max_size=rule.max_size, min_support=1, common=())
    fewest = cliques.counts.min(axis=1)

    readings = []
    for row in np.flatnonzero(fewest < rule.min_images).tolist():
        name = " + ".join(cliques.take(np.array([row])).names()[0])
        class_name = cliques.classes[cliques.counts[row].argmin()]
        n = int(fewest[row])
        text = f"{name} is in {inflect(n, 'images')} of {class_name}"
        readings.append(Reading(COMBINATIONS, name, n, rule.min_images, False, text))
    return readings


def _told_reading(incidence: Incidence, most: float) -> Reading:
    bits = concepts_alone(incidence)
    unit = "bit" if bits.most == 1 else "bits"
    text = f"concepts alone tell {bits.bits:.2f} of {bits.most:.2g} {unit} of the class"
    return Reading(ALONE, "bits", bits.bits, most, True, text, bits.error)


def _split_readings(subject: Subject) -> list[Reading]:
    """One reading for each group of images that stands in several splits."""
    readings = []
    for (what, group), rows in subject.across.groupby(["what", "group"], sort=True):
        splits = rows["splits"].iloc[0]
        text = f"{what} {group} has {inflect(len(rows), 'images')} in {splits}"
        # Near duplicates have numbers, which depend on the others: their images name them.
        of = f"{what} {group}" if what == "cluster" else f"{what} of {rows['id'].min()}"
        readings.append(Reading(SPLITS, of, len(rows), 0, True, text))
    return readings


def _property_readings(subject: Subject, most: float) -> list[Reading]:
    if subject.properties is None:
        raise DataError(
            f"{subject.name}: the rule max_property_auc needs properties of image files. They are "
            "measured in the store alone: cobalance properties DATASET --here"
        )

    readings = []
    for row in subject.properties.to_dict("records"):
        auc = max(row["auc"], 1 - row["auc"])
        error = (row["auc_high"] - row["auc_low"]) / 4
        name = str(row["property"])
        text = f"{name} tells {row['class']} from the others (AUC {row['auc']:.2f})"
        readings.append(Reading(PROPERTIES, name, auc, most, True, text, error))
    return readings


def _coverage_reading(incidence: Incidence, column: str, least: float) -> Reading:
    shows = np.array([name.startswith(f"{column}: ") for name in incidence.concepts])
    if not shows.any():
        columns = {name.partition(": ")[0] for name in incidence.concepts if ": " in name}
        check_known("column", [column], sorted(columns))

    has_value = incidence.sum_rows(shows) > 0
    share = float(has_value.mean())
    error = float(np.sqrt(share * (1 - share) / len(has_value)))
    text = f"{share:.1%} of the images have a value of {column}"
    return Reading(COVERAGE, column, share, least, False, text, error)
