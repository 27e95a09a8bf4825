"""Plans: missing images, their effect, and weights as an alternative."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import (
    IntArray,
    OptionError,
    PlannedQuery,
    check_known,
    render,
    replacing,
    shorten_list,
    text_if,
)
from cobalance.counting import Cliques, Incidence, MiningOptions
from cobalance.generation import (
    PLANNERS,
    SIZE_MEASURES,
    Plan as PlanRecord,
    PlanOptions,
    PlanSizes,
    balancing_weights,
    choose_planner,
    effect_table,
    image_list,
    measure_all,
    plan_from_json,
    plan_to_json,
    plan_usual,
    sets_of,
    simulate,
    summarize_plan,
    touched_rows,
)
from cobalance.ingest import read_text
from cobalance.notebook.data import CLASSES, Data
from cobalance.notebook.diagnosis import Imbalances, imbalances
from cobalance.notebook.display import Result, card, table_html
from cobalance.notebook.remedies import in_python, speaks_python
from cobalance.workflows import (
    NO_COMMON_CONCEPT,
    change_text,
    count_contradicted,
    count_texts,
    describe_balance,
    no_images,
    plan_warnings,
)


class _KeptPlan(Result):
    """Shared by plans of new and of edited images: the queries as a table, and the file."""

    record: PlanRecord
    bars = ("n",)

    @property
    def frame(self) -> pd.DataFrame:
        """A row a query: class, concepts, n; of edited images also source_image and caption."""
        return self.record.frame()

    @property
    def images(self) -> int:
        """All images asked for."""
        return self.record.images

    def to_json(self) -> str:
        """The plan as text that `read_plan` and ``cobalance enqueue --plan-file`` read."""
        return plan_to_json(self.record).decode()

    def save(self, file: str | Path) -> None:
        """Write `to_json` to a file."""
        with replacing(Path(file)) as part:
            part.write_text(self.to_json(), encoding="utf-8")

    def _count_images(self) -> str:
        """Count the images in all and of each class."""
        sizes = self.record.images_by_class().items()
        by_class = shorten_list(count_texts(sizes), CLASSES)
        return f"{self.images:,} images to make ({by_class or 'none'})"


@dataclass(frozen=True, eq=False, repr=False)
class Plan(_KeptPlan):
    """The images to make so that concepts are as frequent in every class.

    Parameters
    ----------
    record : cobalance.generation.planning.plan.Plan
        Planner, options and queries.
    cliques : Cliques
        The counts before.
    name : str
        What a dataset in the store calls it.
    chosen : int array, optional
        Rows of the cliques that it is for; all by default.
    real : Incidence, optional
        The real images, where they are at hand.
    choices : PlanSizes, optional
        What it was chosen from, where no budget was given.
    """

    record: PlanRecord
    cliques: Cliques
    name: str = ""
    chosen: IntArray | None = None
    real: Incidence | None = None
    choices: PlanSizes | None = None

    @property
    def sizes(self) -> pd.DataFrame:
        """Plans to choose from by their budget, where none was given; else no row.

        The index is the name, such as ``Halve it``; columns are ``budget``, ``images`` and the
        measures ``leaning``, ``difference`` and ``largest``.
        """
        rows = []
        for name, sized in (self.choices.cards() if self.choices else {}).items():
            values = {column: sized.measures[column] for column in ("images", *SIZE_MEASURES)}
            rows.append({"size": name, "budget": sized.plan.options.budget, **values})
        columns = ["size", "budget", "images", *SIZE_MEASURES]
        return pd.DataFrame(rows, columns=columns).set_index("size")

    @property
    def summary(self) -> pd.DataFrame:
        """By size of clique: how many are imbalanced before and after, and images to make."""
        return summarize_plan(self.cliques, self.record)

    def simulate(self) -> "Simulation":
        """The exact counts once all images are made."""
        return Simulation(self.cliques, simulate(self.cliques, self.record.queries))

    def edited(self, frame: pd.DataFrame) -> "Plan":
        """The plan with the queries of an edited `frame`; those with n of 0 are left out.

        Raises
        ------
        OptionError
            A query names what the dataset does not have, or asks for less than 0 images.
        """
        missing = [name for name in ("class", "concepts", "n") if name not in frame]
        if missing:
            raise OptionError(f"The frame has no column {missing[0]!r}. Edit one of to_pandas().")
        if not pd.api.types.is_integer_dtype(frame["n"]):
            raise OptionError("n is not a column of whole numbers. Give the images of each query.")

        queries = []
        for row in frame[frame["n"] != 0].to_dict("records"):
            query = PlannedQuery(
                str(row["class"]),
                tuple(sorted(row["concepts"])),
                int(row["n"]),
                None,
                tuple(row.get("sources", ())),
            )
            queries.append(query)

        # A proof is of the plan as it was made.
        record = replace(self.record, queries=tuple(queries), proven=None, bound=None, note="")
        edited = replace(self, record=record)
        # Raises for queries that the dataset does not have.
        edited.simulate()
        return edited

    @property
    def measures(self) -> dict[str, int | float]:
        """Measures of the plan: leaning cliques, their rate differences, concepts alone.

        As `cobalance.generation.planning.effects.measure_all` has it; ``told`` and ``bits`` where
        the images are at hand.
        """
        rows = np.arange(len(self.cliques)) if self.chosen is None else self.chosen
        sets = sets_of(self.cliques, self.record.queries)
        return measure_all(self.cliques, self.simulate().after, sets, rows, self.real)

    def title(self) -> str:
        """Number of images per class and in all, or the reason for none, and warnings."""
        queries = len(self.record.queries)
        parts = [f"{self._count_images()} in {queries:,} queries"]
        contradicted, _ = count_contradicted(self.record, self.cliques)
        if contradicted:
            parts.append(describe_balance(self.record, self.cliques).removesuffix("."))

        if self.record.note:
            parts.append(self.record.note.removesuffix("."))
        elif not queries:
            parts.append(self._why_nothing())
        return ". ".join([*parts, *plan_warnings(self.cliques, self.simulate().after, self.record)])

    def _why_nothing(self) -> str:
        if not len(self.cliques.counts):
            return NO_COMMON_CONCEPT
        rows, smallest = self.record.options.rows(self.cliques), self.record.options.min_size
        reason = no_images("", self.cliques, rows, smallest or 1, MiningOptions())
        return render(reason, in_python).removesuffix(".")

    def _repr_html_(self) -> str:
        tables = [table_html(self.summary.reset_index()), table_html(self.frame, ("n",))]
        if len(sizes := self.sizes):
            tables.insert(0, table_html(sizes.reset_index()))
        return card(self.title(), *tables)


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Result):
    """Every clique that a plan changes: the same cliques with their counts before and after."""

    before: Cliques
    after: Cliques
    bars = ("gap_before", "gap_after")

    @property
    def frame(self) -> pd.DataFrame:
        """The cliques whose counts change, the largest gap before first.

        ``concepts``, ``size``, ``gap_before``, ``gap_after``, ``too_few_before``,
        ``too_few_after``, and for each class ``before_<class>`` and ``after_<class>``.
        """
        rows = touched_rows(self.before, self.after)
        return effect_table(self.before, self.after, rows).reset_index(drop=True)

    @property
    def imbalances(self) -> Imbalances:
        """The diagnosis afterwards."""
        return Imbalances.of(self.after)

    def title(self) -> str:
        """The sum of all gaps before and after."""
        gaps = change_text(self.before.gaps().sum(), self.after.gaps().sum())
        return f"Sum of gaps: {gaps}; {len(self):,} combinations change"


@speaks_python
def plan(
    source: Data | Imbalances,
    planner: str | None = None,
    *,
    min_size: int | None = None,
    max_size: int | None = None,
    max_per_query: int | None = None,
    budget: int | None = None,
    **planner_options: Any,
) -> Plan:
    """Plan the images that even out concepts between classes, without a database.

    Parameters
    ----------
    source : Imbalances or Data
        The combinations to balance: those that `Imbalances.where` has left, or all of the data.
    planner : str, optional
        ``whole-images``: concept sets of real images, edited; the default for data, which has
        images. ``conbias``: Algorithm 1 of the paper; the default for imbalances, which are
        counts. ``minimal``: the fewest images within a tolerance, or the least imbalance within a
        budget. ``published``: as the paper's authors ran it. If none is named, options choose the
        first planner that takes them.
    min_size, max_size : int, optional
        The smallest and largest clique to balance; by default from 2, by whole-images from 1.
    max_per_query, budget : int, optional
        Most images of one query, and in all; a budget is spent first on what has evidence. By
        default whole-images plans a tenth of the images that there are, and where that neither
        halves the largest rate difference nor ends one lean in ten, more: see `Plan.sizes`.
    **planner_options
        The planner's own, such as ``tolerance=0.1`` of minimal.

    Raises
    ------
    OptionError
        No planner has this name, it has no such option, a size was not mined, or whole-images is
        given counts alone.

    Examples
    --------
    >>> from cobalance.notebook.data import urbancars
    >>> print(plan(imbalances(urbancars(), max_size=2), min_size=1).title())
    7,308 images to make (3,654 country, 3,654 urban) in 76 queries
    """
    measured = _measure(source, max_size)
    options = PlanOptions(min_size, max_size, max_per_query, budget)
    real = _images_of(source)
    ids = () if isinstance(source, Imbalances) else source.images["id"].tolist()
    if planner is None:
        planner = choose_planner(real, planner_options)

    # A table may be in any order, and planners take ascending rows.
    chosen = np.sort(measured.rows)
    record, choices = plan_usual(
        measured.cliques,
        planner,
        options,
        planner_options,
        chosen=chosen,
        images=real,
        ids=ids,
    )
    of_sizes = np.intersect1d(chosen, record.options.rows(measured.cliques))
    return Plan(record, measured.cliques, planner, of_sizes, real, choices)


def _images_of(source: Data | Imbalances) -> Incidence | None:
    return None if isinstance(source, Imbalances) else source.incidence()


@speaks_python
def read_plan(file: str | Path, source: Data | Imbalances) -> Plan:
    """Read a plan that `Plan.save` or ``cobalance plan --format json`` wrote, for the same data.

    Raises
    ------
    InputError
        The file holds no plan.
    OptionError
        It is for other classes or concepts.
    """
    record = plan_from_json(read_text(Path(file)).encode(), file=str(file))
    read = Plan(record, _measure(source, record.options.max_size).cliques, record.planner)
    read.simulate()
    return read


@speaks_python
def compare_planners(
    source: Data | Imbalances,
    planners: Sequence[str] = (),
    *,
    min_size: int | None = None,
    max_size: int | None = None,
    max_per_query: int | None = None,
    budget: int | None = None,
    planner_options: Mapping[str, Mapping[str, Any]] | None = None,
) -> pd.DataFrame:
    """Run planners on the same combinations, side by side.

    Parameters
    ----------
    planners : sequence of str
        Their names; all by default. With data in place of imbalances also whole-images, and the
        baselines ``over-sampling``, ``sub-sampling`` and ``weights``, which make no image.
    min_size, max_size, max_per_query, budget
        As in `plan`.
    planner_options : mapping, optional
        By planner, its own options.

    Returns
    -------
    pandas.DataFrame
        By ``planner``: ``images`` to make, ``dataset`` (images afterwards), ``queries``, the
        measures of `cobalance.generation.planning.effects.measure`, ``seconds``.
        ``attrs["left_out"]`` says of planners without a plan why.
    """
    measured = _measure(source, max_size)
    options_by_planner = planner_options or {}
    for name, own_options in options_by_planner.items():
        PLANNERS.check(name, own_options)
    options = PlanOptions(min_size, max_size, max_per_query, budget)
    # With it comes the database's driver, which takes a while to import.
    from cobalance.workflows import compare_all

    return compare_all(
        measured.cliques,
        np.sort(measured.rows),
        options,
        options_by_planner,
        _images_of(source),
        planners,
    )


@speaks_python
def budget_curve(
    source: Data | Imbalances,
    planners: Sequence[str] = (),
    *,
    min_size: int | None = None,
    max_size: int | None = None,
    max_per_query: int | None = None,
    planner_options: Mapping[str, Mapping[str, Any]] | None = None,
) -> pd.DataFrame:
    """Remaining imbalance by number of images, for planners within several budgets.

    Returns
    -------
    pandas.DataFrame
        A row for each planner and budget, 0 to as many images as there are: ``planner``,
        ``budget``, ``images``, ``leaning``, ``difference``, ``widened``, ``remaining``,
        ``gap_after``, ``widest_gap``, as `cobalance.generation.planning.effects.measure` has them.
    """
    from cobalance.workflows import budget_curve as curve_of

    measured = _measure(source, max_size)
    options = PlanOptions(min_size, max_size, max_per_query)
    return curve_of(
        measured.cliques,
        np.sort(measured.rows),
        options,
        planner_options,
        planners,
        _images_of(source),
    )


@speaks_python
def weights(data: Data, concepts: Sequence[str] | None = None) -> pd.DataFrame:
    """Weight the images so that every class counts the same within each group.

    The baseline that needs no new image: images of a split that show the same combination of
    concepts are a group, and within each group the classes weigh the same.

    Parameters
    ----------
    concepts : sequence of str, optional
        The concepts whose combination makes a group; all by default, which makes many groups.

    Returns
    -------
    pandas.DataFrame
        A row an image, indexed by its id: ``class``, ``group`` (tuple of concepts), ``weight``
        (the mean is 1), ``group_images``, ``class_images``, ``group_classes``.

    Raises
    ------
    UnknownNameError
        No image shows one of the concepts.
    """
    images = data.to_pandas()
    groups = images["concepts"]
    if concepts is not None:
        check_known("concept", concepts, set(data.mentions["concept"]))
        chosen = set(concepts)
        groups = groups.map(lambda names: tuple(sorted(chosen.intersection(names))))

    # Images of different splits are never compared, so that a split is a part of the group.
    splits = images["split"].astype(object).where(images["split"].notna(), None)
    split_groups = list(zip(splits, groups, strict=True))
    weighted = balancing_weights(split_groups, list(images["class_name"]))
    frame = pd.DataFrame({"class": images["class_name"].astype(object), "group": groups})
    return frame.join(weighted).set_axis(pd.Index(images["id"], name="id"))


@speaks_python
def resample(
    data: Data, how: str, *, max_size: int = 2, most: int | None = None, seed: int = 0
) -> pd.DataFrame:
    """Repeat or drop real images as a baseline does, without a new one.

    Parameters
    ----------
    how : {"over-sampling", "sub-sampling", "weights", "pruning"}
        Images that show the same concepts are a group; in each, classes get as many images as the
        largest has there, or the smallest, or all weigh the same. Pruning drops the images whose
        loss evens out rates most.
    max_size : int
        Of the combinations whose concepts make groups.
    most : int, optional
        Images to prune at most, by default a tenth; never more than half of a class.
    seed : int
        Which images are repeated or dropped.

    Returns
    -------
    pandas.DataFrame
        A row an image, in the order given, indexed by its id: ``class`` and ``times``, how often it
        is taken (int64, 0 where it is dropped), or ``weight`` (float64). The same for a seed
        whatever the order of the images.

    Raises
    ------
    UnknownNameError
        There is no such baseline.
    """
    cliques = imbalances(data, max_size=max_size).cliques
    ids = data.images["id"].tolist()
    listed = image_list(cliques, data.incidence(), ids, how, seed, most)
    return listed.rename_axis("id")


def _measure(source: Data | Imbalances, max_size: int | None) -> Imbalances:
    if isinstance(source, Imbalances):
        return source
    return imbalances(source) if max_size is None else imbalances(source, max_size=max_size)


@dataclass(frozen=True, eq=False, repr=False)
class CounterfactualPlan(_KeptPlan):
    """The images to make from others, so that each shows every group.

    Parameters
    ----------
    record : cobalance.generation.planning.plan.Plan
        The plan with its queries.
    summary : mapping
        ``sources`` (edited images), ``images`` to make by group, and ``left_out`` by reason.
    name : str
        What the dataset calls it.
    """

    record: PlanRecord
    summary: Mapping[str, Any]
    name: str

    @property
    def left_out(self) -> dict[str, int]:
        """Images that are not edited, by the first reason of each."""
        return dict(self.summary["left_out"])

    def to_json(self) -> str:
        """The plan as text that ``cobalance enqueue --plan-file`` reads."""
        return plan_to_json(self.record, self.summary).decode()

    def title(self) -> str:
        """Images to make and to edit, and how many are left out."""
        title = f"{self._count_images()} from {self.summary['sources']:,} images"
        left_out = sum(self.left_out.values())
        return title + text_if(left_out, f"; {left_out:,} others are left out")
