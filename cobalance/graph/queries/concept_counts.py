"""Counts per class of a dataset's concepts and concept pairs, as tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import FloatArray
from cobalance.graph.database import GraphStore, Row
from cobalance.graph.dataset import DatasetState, class_sizes, dataset_state
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.statistics import COUNT

_DTYPES = {"images": np.int64, "hidden": np.int64, "expanded": np.bool_, "lift": np.float64}


def class_counts(frame: pd.DataFrame) -> FloatArray:
    """The ``count_<class>`` columns: float64, shape (n_rows, n_classes)."""
    columns = [name for name in frame.columns if str(name).startswith(COUNT)]
    return frame[columns].to_numpy(dtype=np.float64)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassSizes:
    """Class sizes behind the counts of concepts and pairs.

    Parameters
    ----------
    class_sizes : dict of str to int
        All images of each class, by name in ascending order. The counts of concepts are of these.
    pair_class_sizes : dict of str to int
        Images of each class in the split that was mined, by default all. The counts of pairs are
        of these: they come from the mined cliques. A pair that was not mined has none: it is not
        common to all classes, below the support, or the dataset not mined since it changed.
    """

    class_sizes: dict[str, int]
    pair_class_sizes: dict[str, int]


@dataclass(frozen=True, eq=False, kw_only=True)
class CountedDataset(ClassSizes):
    """A dataset with its class sizes, to query for concepts and pairs with their counts.

    Parameters
    ----------
    store : GraphStore
        Where it is.
    state : DatasetState
        Whole, mined or not.
    """

    store: GraphStore
    state: DatasetState

    @classmethod
    def of(cls, store: GraphStore, dataset: str) -> "CountedDataset":
        """Read a dataset's state and class sizes.

        Raises
        ------
        NotFoundError, StaleError
            There is none of that name, or an ingest of it did not end.
        """
        state = dataset_state(store, dataset)
        state.require_complete()
        sizes = class_sizes(store, dataset)
        pair_sizes = sizes
        if state.is_mined:
            # A class without an image in the split was not mined, and has none.
            pair_sizes = dict.fromkeys(sizes, 0) | dict(state.own_classes)
        return cls(store=store, state=state, class_sizes=sizes, pair_class_sizes=pair_sizes)

    @property
    def mined(self) -> bool:
        """Whether the cliques were mined from the current images."""
        return self.state.is_mined

    def ask(self, name: str, **parameters: Any) -> list[Row]:
        """Run a catalogue query; the names passed to it are not checked.

        Counts of pairs that were mined before the dataset changed are left out.
        """
        query = CATALOGUE[name]
        bound = query.bind({"dataset": self.state.name, **parameters})
        rows = self.store.read(query, **bound)
        if query.reads_cliques and not self.mined:
            rows = [row | {"counts": []} for row in rows]
        return rows

    def concept_frame(self, rows: Sequence[Row], columns: Sequence[str]) -> pd.DataFrame:
        """Build a frame of concepts: the given columns, and ``count_<class>`` (int64)."""
        return self._frame(rows, columns, 0, np.int64)

    def pair_frame(self, rows: Sequence[Row], columns: Sequence[str]) -> pd.DataFrame:
        """Build a frame of pairs: columns, and ``count_<class>`` (float64), NaN if not mined."""
        return self._frame(rows, columns, np.nan, np.float64)

    def _frame(
        self,
        rows: Sequence[Row],
        columns: Sequence[str],
        uncounted: float,
        dtype: type[np.int64 | np.float64],
    ) -> pd.DataFrame:
        """Build a frame; a class that is not in a row's counts has 0, all have `uncounted`."""
        values: dict[str, Any] = {}
        for column in columns:
            column_values = [row[column] for row in rows]
            values[column] = pd.Series(column_values, dtype=_DTYPES.get(column, object))

        counts = [dict(row["counts"]) for row in rows]
        for name in self.class_sizes:
            class_counts = [
                row_counts.get(name, 0) if row_counts else uncounted for row_counts in counts
            ]
            values[COUNT + name] = np.array(class_counts, dtype=dtype)
        return pd.DataFrame(values)
