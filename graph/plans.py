"""Keep plans in the graph: each of its queries tied to the clique it rebalances and its class."""

from collections.abc import Sequence
from shlex import quote
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from graph import schema
from graph.datasets import check_name, claim, dataset_state, finish
from graph.errors import StaleError, UnknownNameError
from graph.progress import Progress, silent
from graph.store import GraphStore
from graph.sync import NodeRow, apply_change, compare

PlannedQuery = tuple[str, tuple[str, ...], int]
"""Class, concepts in ascending order, images."""


def write_plan(
    store: GraphStore,
    dataset: str,
    name: str,
    queries: Sequence[PlannedQuery],
    *,
    planner: str,
    min_size: int,
    max_size: int,
    progress: Progress = silent,
) -> None:
    """Write a plan, in place of the dataset's plan of that name if there is one.

    Writing the same plan again changes nothing; interrupted, it goes on when run again.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    StoreError
        A query names a clique that is not in the store.
    """
    check_name(name)
    state = dataset_state(store, dataset)
    state.require_mined()
    frame = pd.DataFrame(queries, columns=["class_name", "concepts", "n"])
    keys = [(name, class_name, *concepts) for class_name, concepts, _ in queries]
    digests = frame["n"].tolist()
    stored = {
        tuple(row["key"]): row["digest"]
        for row in store.stream(
            "MATCH (n:GenerationQuery {dataset: $dataset, plan: $plan}) "
            # One whose clique was mined anew has lost it and is written again.
            "RETURN n.key AS key, "
            "CASE WHEN EXISTS { (n)-[:REBALANCES]->() } THEN n.digest ELSE -1 END AS digest",
            dataset=dataset,
            plan=name,
        )
    }
    writer = claim(store, dataset)
    store.write(
        "MERGE (p:Plan {dataset: $dataset, name: $name}) SET p += $settings",
        dataset=dataset,
        name=name,
        settings={
            "planner": planner,
            "mined_as": state.mined_as,
            "min_size": min_size,
            "max_size": max_size,
            "images": int(frame["n"].sum()),
        },
    )

    def rows_at(positions: npt.NDArray[np.int64]) -> list[NodeRow]:
        rows: list[NodeRow] = []
        for i in positions.tolist():
            class_name, concepts, n = queries[i]
            properties: list[Any] = [n, name, class_name, list(concepts), n]
            rows.append((keys[i], properties, [[[concepts]], [[class_name]], [[name]]]))
        return rows

    apply_change(
        store,
        dataset,
        writer,
        schema.GENERATION_QUERY,
        (schema.REBALANCES, schema.FOR_CLASS, schema.ASKED_BY),
        compare(stored, keys, digests, delete=True),
        rows_at,
        "write plan",
        progress,
    )
    finish(store, dataset, writer, spoils="cliques_digest")


def read_plan(store: GraphStore, dataset: str, name: str) -> list[PlannedQuery]:
    """Read a plan's queries in the order in which to run them: size descending, concepts, class.

    Raises
    ------
    DatasetNotFoundError
        There is no such dataset.
    UnknownNameError
        The dataset has no plan of this name.
    StaleError
        The plan was made before the dataset was mined as it is now.
    """
    state = dataset_state(store, dataset)
    known = {
        row["name"]: row["mined_as"]
        for row in store.read(
            "MATCH (p:Plan {dataset: $dataset}) RETURN p.name AS name, p.mined_as AS mined_as",
            dataset=dataset,
        )
    }
    if name not in known:
        raise UnknownNameError("plan", name, known)
    if known[name] != state.mined_as:
        raise StaleError(
            f"The plan {name!r} of {dataset!r} was made for other cliques than the dataset has "
            f"now. Make it again: cobalance plan {quote(dataset)} --name {quote(name)}."
        )
    rows = store.read(
        "MATCH (g:GenerationQuery {dataset: $dataset, plan: $plan}) "
        "RETURN g.class_name AS class_name, g.concepts AS concepts, g.n AS n",
        dataset=dataset,
        plan=name,
    )
    queries = [(row["class_name"], tuple(row["concepts"]), row["n"]) for row in rows]
    return sorted(queries, key=lambda query: (-len(query[1]), query[1], query[0]))
