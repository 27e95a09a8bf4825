"""Store plans: each query linked to the clique that it rebalances and to its class."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from graph.database import schema
from graph.database.store import GraphStore
from graph.database.sync import NodeRow, apply_change, compare
from graph.dataset import statements
from graph.dataset.state import DatasetState, check_name, claim, dataset_state, finish
from graph.errors import Action, OptionError, Part, StaleError, UnknownNameError
from graph.progress import Progress, silent
from graph.records import Edit


class PlannedQuery(NamedTuple):
    """A query of a plan, as the graph keeps it.

    Parameters
    ----------
    class_name : str
        The class of the images; with an edit the group to show, which the dataset need not have.
    concepts : tuple of str
        In ascending order; none only with an edit.
    n : int
        Images.
    edit : Edit or None
        The image that they are to be made from; None for any of the class.
    """

    class_name: str
    concepts: tuple[str, ...]
    n: int
    edit: Edit | None = None


_PLAN_OPTIONS: dict[str, str | int | None] = {
    "name": None,
    "planner": "conbias",
    "min_size": 2,
    "max_size": None,
    "max_per_query": None,
    "budget": None,
}
"""The options of planning that a plan's node keeps, with their defaults."""


def write_plan(
    store: GraphStore,
    dataset: str,
    name: str,
    queries: Sequence[PlannedQuery],
    *,
    planner: str,
    min_size: int,
    max_size: int,
    max_per_query: int | None = None,
    budget: int | None = None,
    planner_options: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> None:
    """Write a plan, replacing the dataset's plan of that name if there is one.

    Writing the same plan again changes nothing; interrupted, it goes on when run again.

    Parameters
    ----------
    max_per_query, budget : int or None
        The limits that it was made with, for `planned_again` to repeat.
    planner_options : mapping, optional
        The planner's own options; anything that JSON can hold.

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
    frame = pd.DataFrame([query[:3] for query in queries], columns=["class_name", "concepts", "n"])
    queries = [PlannedQuery(*query) for query in queries]
    keys = [(name, query.class_name, *query.concepts) for query in queries]
    digests = frame["n"].tolist()
    stored = {
        tuple(row["key"]): row["digest"]
        for row in store.stream(statements.STORED_QUERIES, dataset=dataset, plan=name)
    }
    writer = claim(store, dataset)
    properties = {
        "planner": planner,
        "mined_as": state.mined_as,
        "min_size": min_size,
        "max_size": max_size,
        "images": int(frame["n"].sum()),
        "max_per_query": max_per_query,
        "budget": budget,
        "planner_options": json.dumps(dict(planner_options or {}), ensure_ascii=False),
    }
    store.write(
        statements.MERGE_PLAN, dataset=dataset, plan=name, properties=schema.PLAN.check(properties)
    )

    def rows_at(positions: npt.NDArray[np.int64]) -> list[NodeRow]:
        rows: list[NodeRow] = []
        for i in positions.tolist():
            class_name, concepts, n, _edit = queries[i]
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
    finish(store, dataset, writer, guards="cliques_digest")


def planned_again(state: DatasetState, plan: Mapping[str, Any]) -> tuple[Part, ...]:
    """The actions that recreate a plan with its options, mining first if necessary.

    Parameters
    ----------
    state : DatasetState
        The plan's dataset, as it is now.
    plan : mapping
        The properties of the plan's node; one of an earlier version of the program has fewer.

    Examples
    --------
    >>> plan = {"name": "small", "planner": "conbias", "min_size": 1, "max_size": 2, "budget": 40}
    >>> print(*planned_again(DatasetState("zoo", 1, 1, 1, '{"max_size": 4}', (), None), plan))
    run `plan('zoo', name='small', min_size=1, max_size=2, budget=40)`
    """
    kept = dict(plan)
    largest = json.loads(state.mining or "{}").get("max_size")
    first: tuple[Part, ...] = ()
    if largest is not None and (kept.get("min_size") or 0) > largest:
        size = kept.get("max_size") or kept["min_size"]
        first = (state.mine_again(max_size=size), ", then ")
    elif None not in (largest, kept.get("max_size")) and kept["max_size"] >= largest:
        del kept["max_size"]  # which is then as mined
    given = {
        name: kept[name]
        for name, usual in _PLAN_OPTIONS.items()
        if kept.get(name, usual) not in (None, usual)
    }
    if own := json.loads(kept.get("planner_options") or "{}"):
        given["planner_options"] = own
    return (*first, Action("plan", state.name, **given))


def read_plan(store: GraphStore, dataset: str, name: str) -> list[PlannedQuery]:
    """Read a plan's queries in the order to run them: size descending, then concepts, then class.

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
        row["plan"]["name"]: row["plan"] for row in store.read(statements.PLANS, dataset=dataset)
    }
    if name not in known:
        if known:
            raise UnknownNameError("plan", name, known)
        named = {} if name == _PLAN_OPTIONS["planner"] else {"name": name}
        raise OptionError(f"{dataset!r} has no plan yet. ", *planned_again(state, named), ".")
    if known[name]["mined_as"] != state.mined_as:
        raise StaleError(
            f"The plan {name!r} of {dataset!r} was made for other cliques than the dataset has "
            "now. ",
            *planned_again(state, known[name]),
            ".",
        )
    rows = store.read(statements.PLAN_QUERIES, dataset=dataset, plan=name)
    queries = [PlannedQuery(row["class_name"], tuple(row["concepts"]), row["n"]) for row in rows]
    return sorted(queries, key=lambda query: (-len(query[1]), query[1], query[0]))
