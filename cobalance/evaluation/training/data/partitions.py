"""Partitions c1 to c10 of real images of two groups and their counterfactuals."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import pandas as pd

from cobalance.base import STRING, DataError, check_known
from cobalance.ingest import WordEditor, load_group_words

Kept = Literal["changed", "same", "any"]


@dataclass(frozen=True)
class Partition:
    """Real and edited images of each group in a partition.

    Parameters
    ----------
    women, men : bool
        Whether it has the real images of the group.
    made_women, made_men : {"changed", "same", "any"} or None
        Which counterfactuals that show the group: those whose source shows the other group, the
        group itself, or either; None for none.
    """

    women: bool = False
    men: bool = False
    made_women: Kept | None = None
    made_men: Kept | None = None


PARTITIONS: Mapping[str, Partition] = {
    "c1": Partition(women=True),
    "c2": Partition(men=True),
    "c3": Partition(women=True, men=True),
    "c4": Partition(women=True, made_men="changed"),
    "c5": Partition(men=True, made_women="changed"),
    "c6": Partition(women=True, made_men="same"),
    "c7": Partition(men=True, made_women="same"),
    "c8": Partition(women=True, men=True, made_women="any", made_men="any"),
    "c9": Partition(made_women="changed", made_men="changed"),
    "c10": Partition(made_women="same", made_men="same"),
}
"""Table 2 of Pinpoint Counterfactuals, some of it inferred.

The table names the counterfactuals of each partition, and the text describes c4 and c8. That
c1 has the real women and c2 the real men follows from table 4: recall is complete for women after
c1, and the best for men after c2. That c6 has the real women with synthetic men, and c7 the other
two, is inferred: both have counterfactuals of the same gender (table 2), one gender of c4 to c7 is
fully synthetic (section 10), and c4 and c5 are in that order.
"""


def in_partition(images: pd.DataFrame, name: str) -> "pd.Series[bool]":
    """Which images are in a partition (Pinpoint Counterfactuals, section 4.4, table 2).

    c1, c2 and c3 are the real images of women, of men, and of both. The next four have the real
    images of women (c4, c6) or men (c5, c7) and counterfactuals that show the other group: made
    from images of the first group (c4, c5), or of the group that they show (c6, c7). c8 is all;
    c9 and c10 are counterfactuals alone, with a changed and with the same group.

    Parameters
    ----------
    images : pandas.DataFrame
        ``image``, ``class_name`` (the group that it shows), ``synthetic``, and ``source``: the
        image that it was made from. ``changed``, whether a counterfactual shows another group than
        its source, is told by the class of the source where the column is missing or empty. Women
        and men are the classes whose names say so, such as ``woman`` and ``male``.

    Returns
    -------
    bool pandas.Series, as `images`
        Images of other classes are in no partition, nor are synthetic images that were not made by
        editing one.

    Raises
    ------
    UnknownNameError
        There is no such partition.
    DataError
        It is not clear which classes are women and men, or whether a counterfactual changed.
    """
    check_known("partition", [name], PARTITIONS)
    partition = PARTITIONS[name]
    groups = images["class_name"].astype(STRING)
    women, men = women_and_men(groups.unique())
    synthetic = images["synthetic"].astype(bool)

    has_real = {women: partition.women, men: partition.men}
    selected = ~synthetic & groups.map(has_real).eq(True)
    changed: pd.Series[bool] | None = None
    for group, kind in ((women, partition.made_women), (men, partition.made_men)):
        if kind is None:
            continue
        is_made = synthetic & groups.eq(group) & _is_edited(images)
        if kind != "any":
            # Only where it matters: whether an image is changed may not be known.
            if changed is None:
                changed = _is_changed(images, synthetic & groups.isin([women, men]))
            is_made &= changed if kind == "changed" else ~changed
        selected |= is_made
    return selected


def women_and_men(classes: Collection[str]) -> tuple[str, str]:
    """The classes of women and of men, by their names.

    Examples
    --------
    >>> women_and_men(["male", "dog", "female"])
    ('female', 'male')
    """
    women = [name for name in classes if _group_named(name) == "woman"]
    men = [name for name in classes if _group_named(name) == "man"]
    if len(women) != 1 or len(men) != 1:
        raise DataError(
            "Partitions need a class of women and one of men, and it is not clear which of "
            f"{', '.join(sorted(classes)) or 'no classes'} they are. Name them so."
        )
    return women[0], men[0]


@lru_cache(maxsize=64)
def _group_named(class_name: str) -> str | None:
    groups = WordEditor(load_group_words("pinpoint"), "swap").groups_in(class_name)
    return next(iter(groups)) if len(groups) == 1 else None


def _is_edited(images: pd.DataFrame) -> "pd.Series[bool]":
    """Which images were made by editing one: those told to be, or else those with a source."""
    if "changed" in images and images["changed"].notna().any():
        return images["changed"].notna()
    return images["source"].notna()


def _is_changed(images: pd.DataFrame, selected: "pd.Series[bool]") -> "pd.Series[bool]":
    """Whether images show another group than their source; false where they are not selected."""
    selected = selected & _is_edited(images)
    ids, groups = images["image"], images["class_name"].astype(STRING)
    source_groups = images["source"].map(dict(zip(ids, groups, strict=True)))
    changed = source_groups.ne(groups).astype(object).where(source_groups.notna(), None)
    if "changed" in images:
        changed = images["changed"].astype(object).where(images["changed"].notna(), changed)

    unknown = selected & changed.isna()
    if unknown.any():
        raise DataError(
            f"It is not known which group {int(unknown.sum()):,} counterfactuals were made from, "
            f"such as {ids[unknown].iloc[0]!r}: their sources are not there. Add a column "
            "'changed', which exports have, or the images that they were made from."
        )
    return changed.where(selected, False).astype(bool)
