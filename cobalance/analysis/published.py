"""Comparison with the files that the authors of ConBias publish."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from cobalance.analysis.diagnosis import imbalances
from cobalance.data.reading import Data
from cobalance.display import Result
from cobalance.ingest.published import Published, read_published
from cobalance.wording import speaks_python
from cobalance.workflows.check import compare_published as compared
from cobalance.workflows.check import describe_published


@dataclass(frozen=True, eq=False, repr=False)
class PublishedComparison(Result):
    """Published counts or queries beside those of a dataset.

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
        return describe_published(self.frame, self.theirs)


@speaks_python
def compare_published(
    data: Data,
    file: str | Path,
    *,
    common: Sequence[str] | None = None,
    split: str | None = None,
) -> PublishedComparison:
    """Compare a dataset with a file that the authors of ConBias published for it.

    Parameters
    ----------
    data : Data
        From `read` or `from_frame`.
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
    incidence = data.incidence(split)
    theirs = read_published(file, incidence.classes, incidence.concepts)
    largest = int(np.diff(incidence.indptr).max(initial=1))
    size = min(max(theirs.sizes), max(1, largest))  # no image shows more
    found = imbalances(data, max_size=size, common=common, split=split)
    return PublishedComparison(compared(theirs, incidence, found.cliques), theirs)
