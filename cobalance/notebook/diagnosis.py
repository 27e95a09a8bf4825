"""Imbalances: how concept combinations lean to a class."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from cobalance.base import (
    NO_LIMIT,
    IntArray,
    OptionError,
    UnknownNameError,
    clean_name,
    map_optional,
    render,
    shorten_list,
    text_if,
)
from cobalance.counting import (
    MAX_CLIQUES,
    Cliques,
    Incidence,
    MiningOptions,
    Scan,
    count_scanned,
    label_by,
    mine_cliques,
    mine_one_against_rest,
    read_singles,
)
from cobalance.ingest import Published, read_published
from cobalance.notebook.arguments import list_names
from cobalance.notebook.data import CLASSES, Data
from cobalance.notebook.display import Result, matching_rows, rows_at
from cobalance.notebook.plots import draw_skews
from cobalance.notebook.remedies import in_python, speaks_python
from cobalance.statistics import (
    COUNT,
    EVIDENCE,
    SMALLEST_FIRST,
    CliqueFilter,
    ComparedSplits,
    Comparison as ComparedRecord,
    Measure,
    by_evidence,
    compare_cliques,
    cooccurrence_table,
    find_closed,
    imbalance_table,
    own_effects,
    summarize,
    with_clusters,
)
from cobalance.workflows import (
    NO_COMMON_CONCEPT,
    describe_comparison,
    describe_leaning,
    describe_splits,
    imbalance_table as table_for_people,
    not_compared,
    splits_table,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Imbalances(Result):
    """Concept cliques with their counts, and how each leans to a class.

    Parameters
    ----------
    cliques : Cliques
        All cliques that were mined.
    table : pandas.DataFrame
        The row of each, from `cobalance.statistics.imbalance.imbalance_table`.
    rows : int array
        Which of them `frame` has, in its order.
    incidence : Incidence or None
        The images, which tests of co-occurrence need where they are in clusters.
    min_support : int
        As the cliques were mined.
    """

    cliques: Cliques
    table: pd.DataFrame
    rows: IntArray
    incidence: Incidence | None = None
    min_support: int = 1

    @classmethod
    def of(
        cls,
        cliques: Cliques,
        confidence: float = 0.95,
        incidence: Incidence | None = None,
        min_support: int = 1,
    ) -> "Imbalances":
        """Measure all of some cliques; those with evidence first."""
        table = imbalance_table(cliques, confidence=confidence)
        return cls(cliques, table, np.arange(len(table)), incidence, min_support).sort()

    @property
    def frame(self) -> pd.DataFrame:
        """A row a clique.

        ``concepts``, ``size``, ``count_<class>``, ``rate_<class>``, ``gap``,
        ``over_represented``, ``under_represented``, ``lift``, ``log_odds_ratio`` with ``_low`` and
        ``_high``, ``p_value``, ``q_value`` (over all cliques that were mined), ``test``,
        ``leans``, ``effect``, ``highest_rate``, ``lowest_rate`` and ``disagreement``;
        `cobalance.statistics.imbalance.imbalance_table` says which classes each compares.
        """
        return self.table.iloc[self.rows].reset_index(drop=True)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, in ascending order."""
        return self.cliques.classes

    @property
    def chosen(self) -> Cliques:
        """The cliques of `frame`, in the order in which they were mined."""
        return self.cliques.take(np.sort(self.rows))

    def sort(self, by: str = EVIDENCE, *, ascending: bool | None = None) -> "Imbalances":
        """The same rows by evidence or a column; among equals, small cliques first.

        By evidence those with a q-value of at most 0.05 come first, by the difference of their
        rates (``effect``), then the others. ``gap`` is the order of ConBias. By default the
        largest come first, and of `p_value` and `q_value` the smallest.

        Raises
        ------
        UnknownNameError
            There is no such column.
        """
        if ascending is None:
            ascending = by in SMALLEST_FIRST
        if by not in (EVIDENCE, *self.table.columns):
            raise UnknownNameError("column", by, [EVIDENCE, *map(str, self.table.columns)])

        # In the order of the table small cliques come first, and a stable sort keeps them there.
        part = self.table.iloc[np.sort(self.rows)]
        if by == EVIDENCE:
            order = by_evidence(part, ascending=ascending).index
        else:
            order = part[by].sort_values(ascending=ascending, kind="stable").index
        return replace(self, rows=order.to_numpy())

    def where(
        self,
        *,
        under_represented: str | None = None,
        concepts: str | Sequence[str] = (),
        min_gap: int = 0,
        max_q_value: float | None = None,
        min_size: int = 1,
        max_size: int | None = None,
        closed: bool = False,
    ) -> "Imbalances":
        """Filter the rows, and keep their order.

        Parameters
        ----------
        under_represented : str, optional
            Only where this class has the fewest images.
        concepts : str or sequence of str
            Only cliques with all of these concepts.
        min_gap : int
            At least this gap, in images.
        max_q_value : float, optional
            At most this false discovery rate.
        min_size, max_size : int
            Only cliques of so many concepts.
        closed : bool
            Only cliques of which no larger one has the same count in every class.

        Raises
        ------
        OptionError
            There is no such class or concept, or a number is out of range.
        """
        names = list_names(concepts)
        passed = CliqueFilter(under_represented, names, min_gap, max_q_value).rows(self.cliques)
        sizes = self.cliques.sizes()
        largest = sizes.max(initial=0) if max_size is None else max_size

        fits = np.zeros(len(sizes), dtype=bool)
        fits[passed] = True
        fits &= (sizes >= min_size) & (sizes <= largest)
        if closed:
            fits &= find_closed(self.cliques)
        return replace(self, rows=self.rows[fits[self.rows]])

    def top(self, n: int = 10) -> "Imbalances":
        """The first rows."""
        return replace(self, rows=self.rows[:n])

    def query(self, expression: str) -> "Imbalances":
        """The rows for which an expression of pandas holds, such as ``"gap > 100"``."""
        return replace(self, rows=self.rows[matching_rows(self.frame, expression)])

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return replace(self, rows=self.rows[rows_at(at, len(self))])
        return super().__getitem__(at)

    def _draw(self, n: int, ax: "Axes | None") -> "Axes":
        return draw_skews(self.frame.head(n), self.cliques.class_images(), ax)

    def own_effects(self) -> pd.DataFrame:
        """Split each row's effect into the part that smaller combinations explain and its own part.

        The columns are those of `cobalance.statistics.own_effect.own_effects`; q-values are
        over all cliques that were mined.
        """
        return own_effects(self.cliques).iloc[self.rows].reset_index(drop=True)

    def summary(self, n: int = 20, *, max_q_value: float = 0.05) -> pd.DataFrame:
        """The combinations that stand on their own, of all that were mined.

        In groups of concepts that occur together, with ``own_effect`` and ``own_q_value``; see
        `cobalance.statistics.summary.summarize`.

        Raises
        ------
        OptionError
            `n` is below 1, or `max_q_value` not from 0 to 1.
        """
        return summarize(self.cliques, limit=n, max_q_value=max_q_value)

    def cooccurrences(self) -> pd.DataFrame:
        """Concepts that occur together more or less often than their frequencies say.

        Of all that were mined, whatever the classes, those with evidence first; the columns are
        those of `cobalance.statistics.cooccurrences.cooccurrence_table`.
        """
        return cooccurrence_table(self.cliques, self.incidence, self.min_support)

    def title(self) -> str:
        """Number of combinations, how many lean or have a gap, and images per class."""
        rows = self.table.iloc[self.rows]
        unproven = int(((rows["gap"] > 0) & ~rows["leans"]).sum())
        leaning = describe_leaning(int(rows["leans"].sum()), unproven)
        class_sizes = self.cliques.class_images()
        sizes = shorten_list((f"{name} {n:,}" for name, n in class_sizes.items()), CLASSES)
        title = f"{len(self):,} concept combinations, {leaning}; images: {sizes}"

        reason = not_compared(class_sizes)
        if not reason and not len(self.cliques.counts):
            reason = f"{NO_COMMON_CONCEPT}; common=() keeps the others."
        return title + text_if(reason, f". {reason}")

    def __len__(self) -> int:
        return len(self.rows)

    def shown(self) -> pd.DataFrame:
        """Counts, gap and statistics, in words."""
        return table_for_people(self.frame, self.cliques.class_images())

    @property
    def bars(self) -> tuple[str, ...]:
        """One a class."""
        return self.classes


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Comparison of the imbalances of two datasets; `record` has all of it."""

    record: ComparedRecord

    @property
    def bars(self) -> tuple[str, ...]:
        """The measures before and after."""
        measure = "difference" if self.record.by == "rates" else "gap"
        return f"{measure}_before", f"{measure}_after"

    @property
    def frame(self) -> pd.DataFrame:
        """A row a combination that is imbalanced in either, the largest change first."""
        return self.record.cliques

    @property
    def summary(self) -> pd.DataFrame:
        """A row a size: how many lean before and after, their rates, and how many are new, ..."""
        return self.record.summary

    @property
    def notes(self) -> tuple[str, ...]:
        """Caveats of the comparison."""
        return tuple(render(note, in_python) for note in self.record.notes)

    def title(self) -> str:
        """How many combinations lean, or have a gap, before and after, and their statuses."""
        return describe_comparison(self.record).removesuffix(".")

    def shown(self) -> pd.DataFrame:
        """Without the counts of the classes."""
        counts = [name for name in self.frame.columns if str(name).startswith(COUNT)]
        return self.frame.drop(columns=counts)


@speaks_python
def imbalances(
    data: Data,
    *,
    max_size: int = 4,
    min_support: int = 1,
    common: Sequence[str] | None = None,
    split: str | None = None,
    confidence: float = 0.95,
    max_cliques: int | None = None,
    compare: str | None = None,
) -> Imbalances:
    """Mine the concept cliques of a dataset, and measure how each leans to a class.

    Parameters
    ----------
    data : Data
        From `read`.
    max_size : int
        Concepts in the largest clique.
    min_support : int
        Least images that a clique must have in its most frequent class.
    common : sequence of str, optional
        Classes that every concept must occur with; every class by default. An empty one
        also keeps concepts that some class never shows.
    split : str, optional
        Count only images of this split.
    confidence : float
        Of the odds ratios' interval.
    max_cliques : int, optional
        Give up above this many.
    compare : str, optional
        A concept to compare with the images that do not show it, in place of the classes; `common`
        says nothing then.

    Raises
    ------
    DataError, OptionError, TooManyCliquesError
        There is no image, an option cannot be used, or there are more cliques.

    Examples
    --------
    >>> from cobalance.notebook.data import urbancars
    >>> found = imbalances(urbancars(), max_size=2)
    >>> len(found), found.frame.loc[0, "concepts"], int(found.frame.loc[0, "gap"])
    (89, ('cow',), 1414)
    """
    incidence = data.incidence(split)
    counting: dict[str, Any] = {"max_size": max_size, "min_support": min_support}
    if compare is not None:
        name = clean_name(compare)
        counted = mine_one_against_rest(incidence, (name,), max_cliques=max_cliques, **counting)
        cliques = with_clusters(counted.of(name), label_by(incidence, name))
        return Imbalances.of(cliques, confidence, incidence, min_support)

    common = _clean_names(common)
    cliques = mine_cliques(incidence, common=common, max_cliques=max_cliques, **counting)
    return Imbalances.of(with_clusters(cliques, incidence), confidence, incidence, min_support)


def _clean_names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(map(clean_name, names))


@speaks_python
def imbalances_in_files(
    path: str | Sequence[str],
    *,
    engine: Literal["out-of-core", "spark"] = "out-of-core",
    class_column: str | None = None,
    concepts_column: str | None = None,
    delimiter: str | None = None,
    max_size: int = 4,
    min_support: int = 1,
    common: Sequence[str] | None = None,
    confidence: float = 0.95,
    max_cliques: int = MAX_CLIQUES,
    master: str | None = None,
) -> Imbalances:
    """Mine Parquet files that memory may not hold, and measure as `imbalances` does.

    Only counts are held: docs/scale.md says what that takes.

    Parameters
    ----------
    path : str or sequence of str
        Files or folders, on any file system that Spark reads where it counts; a row an image.
    engine : {"out-of-core", "spark"}
        Part by part on this machine, or on Apache Spark: in the running session, as in
        ``spark-submit``, or else in one that `master` starts.
    class_column, concepts_column : str, optional
        Text, and lists of text or text split at `delimiter`; found by their names by default.
    delimiter : str, optional
        Between concepts in text.
    max_size, min_support, common, confidence, max_cliques
        As of `imbalances`.
    master : str, optional
        Such as ``"local[4]"``, ``"spark://host:7077"``, or ``"sc://host:15002"`` for Spark Connect;
        all cores of this machine by default.

    Raises
    ------
    MissingExtraError
        The extra ``spark`` is not installed.
    InputError, OptionError, TooManyCliquesError
        The files or an option cannot be used, or there are more cliques.
    """
    from cobalance.ingest import ReadOptions
    from cobalance.workflows import FileImages, decide_columns, open_files

    columns = ReadOptions(
        class_column=class_column, concepts_column=concepts_column, delimiter=delimiter
    )
    mining = MiningOptions(max_size, min_support, map_optional(tuple, common))
    with open_files(path, engine, master) as files:
        options, _, singles = decide_columns(files, columns)
        cliques = FileImages(files, options, singles).count(mining, max_cliques).cliques
    return Imbalances.of(cliques, confidence, None, min_support)


@speaks_python
def imbalances_of_batches(
    scan: Scan,
    *,
    max_size: int = 4,
    min_support: int = 1,
    common: Sequence[str] | None = None,
    confidence: float = 0.95,
    max_cliques: int = MAX_CLIQUES,
) -> Imbalances:
    """Mine images wherever an engine has them, and measure as `imbalances` does.

    Parameters
    ----------
    scan : callable
        Called with a kernel, for each time that the images are gone through. It runs the kernel
        over all images in as many parts as it likes, and returns or yields every batch that the
        kernel gives. The kernel takes an iterator of Arrow record batches with the columns `label`,
        text, and `concepts`, lists of text, and yields record batches of one column `part`,
        binary. For batches at hand: ``lambda kernel: kernel(iter(batches))``.
    max_size, min_support, common, confidence, max_cliques
        As of `imbalances`.

    Raises
    ------
    DataError, TooManyCliquesError
        There is no image, an image has no class, or there are more cliques.

    Examples
    --------
    >>> import pyarrow as pa
    >>> images = {"label": ["farm", "farm", "town"], "concepts": [["cow"], ["cow"], ["cow", "car"]]}
    >>> batches = pa.table(images).to_batches()
    >>> found = imbalances_of_batches(lambda kernel: kernel(iter(batches)), common=())
    >>> found.frame["concepts"].tolist()
    [('car',), ('car', 'cow'), ('cow',)]
    """
    mining = MiningOptions(max_size, min_support, map_optional(tuple, common))
    cliques = count_scanned(scan, read_singles(scan), mining, max_cliques)
    return Imbalances.of(cliques, confidence, None, min_support)


@speaks_python
def compare(
    before: Imbalances,
    after: Imbalances,
    *,
    by: Measure | None = None,
    min_gap: int | None = None,
    extends: bool = False,
) -> Comparison:
    """Compare each imbalance before and after a change, such as added images.

    All combinations that were mined are compared, whatever rows are left.

    Parameters
    ----------
    before, after : Imbalances
        Of two versions of a dataset, with the same classes.
    by : "rates" or "counts", optional
        What makes an imbalance: rates that differ beyond chance, or gaps in images, as ConBias has
        it. By default rates; counts where `min_gap` is given.
    min_gap : int, optional
        By counts, the smallest gap that is an imbalance, in images.
    extends : bool
        Whether `after` has all images of `before` and further ones. Then a change is told by these
        alone; else the two are taken for independent samples.

    Raises
    ------
    DataError
        They have different classes.
    """
    return Comparison(
        compare_cliques(
            before.cliques,
            after.cliques,
            by=by or ("rates" if min_gap is None else "counts"),
            extends=extends,
            min_gap=min_gap,
            limit=NO_LIMIT,
        )
    )


@dataclass(frozen=True, eq=False, repr=False)
class SplitComparison(Result):
    """Comparison of the imbalances of two splits; `record` has all of it."""

    record: ComparedSplits

    @property
    def frame(self) -> pd.DataFrame:
        """A row a combination: columns of `cobalance.statistics.splits.compare_splits`."""
        return self.record.cliques

    def title(self) -> str:
        """How many imbalances hold in both, and how many differ."""
        return describe_splits(self.record)

    def shown(self) -> pd.DataFrame:
        """Counts, rates and the difference, in words."""
        return splits_table(self.record)


@speaks_python
def compare_splits(
    data: Data,
    first: str,
    second: str,
    *,
    max_size: int = 4,
    min_support: int = 1,
    common: Sequence[str] | None = None,
    max_q_value: float = 0.05,
    max_cliques: int | None = None,
) -> SplitComparison:
    """Compare the imbalances of two splits, such as ``train`` and ``val``.

    Parameters
    ----------
    data : Data
        From `read`.
    first, second : str
        The splits.
    max_size, min_support, common, max_cliques
        As for `imbalances`, of the images of both together.
    max_q_value : float
        Of an imbalance that holds in a split.

    Raises
    ------
    OptionError, TooManyCliquesError
        No image is of a split, an option cannot be used, or there are more cliques.
    """
    if first == second:
        raise OptionError(f"{first!r} is named twice. Give two different splits.")
    compared = ComparedSplits.of(
        (first, second),
        (data.incidence(first), data.incidence(second)),
        max_size=max_size,
        min_support=min_support,
        common=_clean_names(common),
        max_q_value=max_q_value,
        max_cliques=max_cliques,
    )
    return SplitComparison(compared)


@dataclass(frozen=True, eq=False, repr=False)
class PublishedComparison(Result):
    """Comparison of published counts or queries with a dataset's.

    Parameters
    ----------
    table : pandas.DataFrame
        ``class``, ``concepts``, ``theirs``, ``ours`` and ``result``: ``differs``, ``only
        published``, ``only here`` or ``equal``, in that order.
    theirs : Published
        What the file says, and which of its names the dataset has in other letter case, or lacks.
    """

    table: pd.DataFrame
    theirs: Published

    @property
    def frame(self) -> pd.DataFrame:
        """All rows."""
        return self.table

    def title(self) -> str:
        """How many rows are equal and how many are not, and which names are not the same."""
        # With it comes the database's driver, which takes a while to import.
        from cobalance.workflows import describe_published

        return describe_published(self.frame, self.theirs)


@speaks_python
def compare_published(
    data: Data, file: str | Path, *, common: Sequence[str] | None = None, split: str | None = None
) -> PublishedComparison:
    """Compare a dataset with a file that the authors of ConBias published for it.

    Parameters
    ----------
    data : Data
        From `read`.
    file : str or Path
        Their co-occurrence CSV, or the JSON of their clique dictionary, common cliques or
        generation queries. Queries are compared with the planner ``published``; names that letter
        case alone tells apart are the same where that is unique.
    common, split : optional
        As in `imbalances`.

    Raises
    ------
    InputError
        The file is none of these.
    """
    from cobalance.workflows import compare_published as compared

    incidence = data.incidence(split)
    theirs = read_published(file, incidence.classes, incidence.concepts)
    # No image shows a clique of more concepts.
    largest = int(np.diff(incidence.indptr).max(initial=1))
    size = min(max(theirs.sizes), max(1, largest))
    ours = imbalances(data, max_size=size, common=common, split=split)
    return PublishedComparison(compared(theirs, incidence, ours.cliques), theirs)
