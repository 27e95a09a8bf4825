"""Compare a dataset's counts and plan with a file that the authors of ConBias published."""

from pathlib import Path

import numpy as np
import pandas as pd

from cobalance.base import Action, DataError, shorten_list
from cobalance.counting import Cliques, Incidence, count_chosen
from cobalance.counting.cooccurrence import cooccurrence
from cobalance.generation import PlanOptions
from cobalance.generation.planning.planners import plan
from cobalance.graph import GraphStore, load_cliques, read_mining_options
from cobalance.ingest import Key, Published, read_published
from cobalance.workflows.export_graph.tables import class_counts, dataset_incidence

RESULTS = ("differs", "only published", "only here", "equal")
"""How a row compares, in the order of the table."""


def compare_dataset(
    store: GraphStore, dataset: str, file: str | Path
) -> tuple[pd.DataFrame, Published]:
    """Compare a mined dataset of the store with a file; see `compare_published`.

    Raises
    ------
    InputError
        The file is none of ConBias's.
    StaleError
        The dataset has not been mined, or has changed since.
    DataError
        The file has combinations of more concepts than were mined.
    """
    cliques, mining = load_cliques(store, dataset), read_mining_options(store, dataset)
    incidence = dataset_incidence(store, dataset, mining.split)
    theirs = read_published(file, incidence.classes, incidence.concepts)

    # A matrix is of counts that the graph has whatever was mined.
    size = max(theirs.sizes)
    if theirs.kind != "co-occurrence" and size > mining.max_size:
        raise DataError(
            f"{file} has combinations of {size} concepts, and {dataset!r} is mined for up to "
            f"{mining.max_size}. ",
            Action("mine", dataset, max_size=size),
            " before.",
        )
    return compare_published(theirs, incidence, cliques), theirs


def compare_published(theirs: Published, incidence: Incidence, cliques: Cliques) -> pd.DataFrame:
    """Compare counts, cliques or queries with published ones.

    Counts are those of all images, whatever was mined. Mined cliques that a file lacks are listed
    if they are of its sizes. Queries are compared with those of the planner ``published`` for
    the file's sizes.

    Returns
    -------
    pandas.DataFrame
        A row for a class (empty for all of them) and concepts: ``class``, ``concepts``, ``theirs``,
        ``ours`` (Int64: images; missing where a side has none, or only names the concepts) and
        ``result``, one of `RESULTS`, in that order. Two zeros of a matrix are no row.
    """
    ours = _ours(theirs, incidence, cliques)
    rows = []
    for key in dict.fromkeys([*theirs.rows, *ours]):
        their_images, our_images = theirs.rows.get(key), ours.get(key)
        # A matrix is mostly of zeros.
        if theirs.kind != "co-occurrence" or their_images or our_images:
            rows.append((*key, their_images, our_images, _result(key, theirs.rows, ours)))

    columns = ["class", "concepts", "theirs", "ours", "result"]
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    frame = frame.astype({"class": "str", "theirs": "Int64", "ours": "Int64", "result": "str"})
    order = frame["result"].map(RESULTS.index).sort_values(kind="stable").index
    return frame.loc[order].reset_index(drop=True)


def describe_published(frame: pd.DataFrame, theirs: Published) -> str:
    """How many rows are equal and how many are not, and which names are not the same.

    Examples
    --------
    >>> theirs = Published("cliques", {}, {"Cow": "cow"})
    >>> print(describe_published(pd.DataFrame({"result": ["only here", "equal", "equal"]}), theirs))
    3 rows: 0 differ, 0 only published, 1 only here, 2 equal. In other letter case: Cow as cow
    """
    n = frame["result"].value_counts()
    parts = [f"{n.get(name, 0):,} {name.replace('differs', 'differ')}" for name in RESULTS]
    text = f"{len(frame):,} rows: {', '.join(parts)}"

    folded, unknown = [], []
    for name, ours in theirs.names.items():
        if ours is None:
            unknown.append(name)
        elif ours != name:
            folded.append(f"{name} as {ours}")

    if folded:
        text += f". In other letter case: {shorten_list(folded)}"
    if unknown:
        text += f". Names that the dataset lacks: {shorten_list(unknown)}"
    return text


def _result(key: Key, theirs: dict[Key, int | None], ours: dict[Key, int | None]) -> str:
    if key not in ours:
        return "only published"
    if key not in theirs:
        return "only here"
    return "equal" if theirs[key] == ours[key] else "differs"


def _ours(theirs: Published, incidence: Incidence, cliques: Cliques) -> dict[Key, int | None]:
    """The dataset's numbers for the file's rows, and for rows that the file lacks."""
    if theirs.kind == "queries":
        options = PlanOptions(min(theirs.sizes), max(theirs.sizes))
        queries = plan(cliques, "published", options).queries
        return {(query.class_name, query.concepts): query.n for query in queries}
    mined = cliques.take(np.isin(cliques.sizes(), list(theirs.sizes)))
    if theirs.kind == "common cliques":
        return dict.fromkeys((("", names) for names in mined.names()), None)

    rows = _count_rows(theirs, incidence)
    if theirs.kind == "cliques":
        for names, counts in zip(mined.names(), mined.counts.tolist(), strict=True):
            for class_name, images in zip(mined.classes, counts, strict=True):
                rows.setdefault((class_name, names), images)
        return rows

    # A matrix has classes with concepts, and pairs of concepts.
    for class_name, concept, images in class_counts(incidence).itertuples(index=False):
        rows.setdefault((class_name, (concept,)), images)
    edges, names = cooccurrence(incidence), incidence.concepts
    for pair, images in zip(edges.concept_pairs.tolist(), edges.pair_images.tolist(), strict=True):
        rows.setdefault(("", (names[pair[0]], names[pair[1]])), images)
    return rows


def _count_rows(theirs: Published, incidence: Incidence) -> dict[Key, int | None]:
    """Images of the file's rows whose class and concepts the dataset has."""
    comparable = [
        (class_name, concepts)
        for class_name, concepts in theirs.rows
        if class_name in ("", *incidence.classes) and set(concepts) <= set(incidence.concepts)
    ]

    rows: dict[Key, int | None] = {}
    chosen = count_chosen(incidence, [concepts for _, concepts in comparable])
    for (class_name, concepts), counts in zip(comparable, chosen, strict=True):
        # A row without a class is of all of them.
        images = counts[incidence.classes.index(class_name)] if class_name else counts.sum()
        rows[class_name, concepts] = int(images)
    return rows
