"""Store plans: each query linked to its class, and to its clique or the image that it edits."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, astuple, fields
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from cobalance.base import (
    Action,
    Edit,
    NotFoundError,
    Part,
    PlannedQuery,
    Progress,
    StaleError,
    UnknownNameError,
    silent,
)
from cobalance.graph.database import Claim, GraphStore, schema
from cobalance.graph.database.sync import NodeRow, apply_change, compare
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.names import read_names
from cobalance.graph.dataset.state import DatasetState, check_name, dataset_state

_PLAN_OPTIONS = ("name", "planner", "min_size", "max_size", "max_per_query", "budget")
"""The options of planning that a plan's node keeps."""
DEFAULT_PLANS = ("whole-images", "conbias")
"""Plans by the default planner, where the images are at hand and where they are not."""


def write_plan(
    store: GraphStore,
    dataset: str,
    name: str,
    queries: Sequence[PlannedQuery],
    *,
    planner: str,
    min_size: int | None = None,
    max_size: int | None = None,
    max_per_query: int | None = None,
    budget: int | None = None,
    planner_options: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> None:
    """Write a plan, replacing the dataset's plan of that name if there is one.

    Writing the same plan again changes nothing; interrupted, it goes on when run again. A plan
    whose queries edit images needs no cliques: it is for the dataset's images as they are now.

    Parameters
    ----------
    min_size, max_size : int or None
        Of its cliques; not kept where it edits images.
    max_per_query, budget
        The limits that it was made with, for `replan_actions` to repeat.
    planner_options : mapping, optional
        The planner's own options; anything that JSON can hold.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    StoreError
        A query names a clique or an image that is not in the store.
    """
    check_name(name, "plan")
    state = dataset_state(store, dataset)
    queries = [PlannedQuery(*query) for query in queries]
    edits = [query for query in queries if query.edit is not None]
    needs_cliques = not edits or len(edits) < len(queries)
    if needs_cliques:
        state.require_mined()
    else:
        state.require_complete()

    keys = [query_key(name, query) for query in queries]
    digests = [_digest(position, query) for position, query in enumerate(queries)]
    stored = {
        tuple(row["key"]): row["digest"]
        for row in store.stream(statements.STORED_QUERIES, dataset=dataset, plan=name)
    }
    change = compare(stored, keys, digests, delete=True)

    claim = Claim.take(store, dataset)
    properties = {
        "planner": planner,
        "mined_as": state.mined_as if needs_cliques else None,
        "images_digest": state.digest if edits else None,
        "min_size": min_size if needs_cliques else None,
        "max_size": max_size,
        "images": sum(query.n for query in queries),
        "max_per_query": max_per_query,
        "budget": budget,
        "planner_options": json.dumps(dict(planner_options or {}), ensure_ascii=False),
    }
    checked = schema.PLAN.check(properties)
    store.write(statements.MERGE_PLAN, dataset=dataset, plan=name, properties=checked)

    class_names = set(read_names(store, dataset, schema.CLASS))

    def rows_at(positions: npt.NDArray[np.int64]) -> list[NodeRow]:
        rows: list[NodeRow] = []
        for i in positions.tolist():
            properties, edges = _query_row(queries[i], i, state, class_names)
            rows.append((keys[i], [digests[i], name, *properties], [*edges, [[name]]]))
        return rows

    edges = (schema.REBALANCES, schema.FOR_CLASS, schema.EDITS, schema.ASKED_BY)
    apply_change(claim, schema.GENERATION_QUERY, edges, change, rows_at, "write plan", progress)
    claim.finish(guards="cliques_digest")


def _query_row(
    query: PlannedQuery, position: int, state: DatasetState, class_names: Collection[str]
) -> tuple[list[Any], list[list[Sequence[Any]]]]:
    """A query's properties behind its plan, and its edges to cliques, classes and images."""
    class_name, concepts, n, edit, sources = query
    is_ordered = edit is not None or bool(sources)
    properties: list[Any] = [
        class_name,
        list(concepts),
        n,
        list(sources) or None,
        *edit_properties(edit).values(),
        position if is_ordered else None,
    ]

    # An image may be edited to show a group that is no class of the dataset.
    classes = [class_name] if edit is None or class_name in class_names else []
    # With a compared concept it need not have been mined.
    cliques = [] if is_ordered or state.compared else [concepts]
    images = sources if edit is None else [edit.source_image]
    return properties, [[cliques], [classes], [images]]


def query_key(plan: str, query: PlannedQuery) -> tuple[str, ...]:
    """Key of a plan's query; that of an edited image has an empty name, which no concept has."""
    if query.edit is None:
        return (plan, query.class_name, *query.concepts)
    return (plan, query.class_name, "", query.edit.source_image)


def edit_properties(edit: Edit | None) -> dict[str, Any]:
    """The properties of a query that say which image it edits; all None where it edits none."""
    if edit is None:
        return {field.name: None for field in fields(Edit)}
    lists = {"captions": list(edit.captions), "own_group": edit.own_group or None}
    return asdict(edit) | lists


def read_edit(row: Mapping[str, Any]) -> Edit | None:
    """Read a query's edit from its properties; None where it edits no image."""
    if row["source_image"] is None:
        return None
    captions = tuple(row["captions"] or ())
    return Edit(row["source_image"], row["caption"] or "", captions, row["own_group"] or "")


def _digest(position: int, query: PlannedQuery) -> int:
    """Digest a query's content beside its key, as a signed number of 64 bits."""
    if query.edit is None and not query.sources:
        return query.n
    edited = () if query.edit is None else astuple(query.edit)[1:]
    content = [position, query.n, query.concepts, *edited, *query.sources]
    text = json.dumps(content).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), signed=True)


def find_outdated(
    state: DatasetState, plan: Mapping[str, Any]
) -> Literal["images", "cliques"] | None:
    """Find what changed in the dataset since a plan was made: images, cliques, or None.

    Parameters
    ----------
    plan : mapping
        The properties of the plan's node.
    """
    digest, mined_as = plan.get("images_digest"), plan.get("mined_as")
    if digest is not None and digest != state.digest:
        return "images"

    needs_cliques = digest is None or mined_as is not None
    if needs_cliques and not (state.is_mined and mined_as == state.mined_as):
        return "cliques"
    return None


def replan_actions(state: DatasetState, plan: Mapping[str, Any]) -> tuple[Part, ...]:
    """The actions that recreate a plan with its options, mining first if necessary.

    Parameters
    ----------
    state : DatasetState
        The plan's dataset, as it is now.
    plan : mapping
        The properties of the plan's node.
    """
    name, planner = plan.get("name"), plan.get("planner")
    planner_options = json.loads(plan.get("planner_options") or "{}")
    if plan.get("images_digest") is not None:
        options = {"recipe": planner}
        if name != planner:
            options["name"] = name
        for option, value in planner_options.items():
            options[option] = _hashable(value)
        return (Action("plan_counterfactuals", state.name, **options),)

    options = {option: plan[option] for option in _PLAN_OPTIONS if plan.get(option) is not None}
    if name == planner:
        options.pop("name", None)

    first: tuple[Part, ...] = ()
    smallest, largest = options.get("min_size"), options.get("max_size")
    largest_mined = json.loads(state.mining or "{}").get("max_size")
    if largest_mined is not None and smallest is not None and smallest > largest_mined:
        first = (Action("mine", state.name, max_size=largest or smallest), ", then ")
    elif largest_mined is not None and largest is not None and largest >= largest_mined:
        # By default a plan has the cliques of all sizes that were mined.
        del options["max_size"]

    smallest_by_default = 1 if planner == DEFAULT_PLANS[0] else 2
    if smallest == smallest_by_default:
        del options["min_size"]

    if planner_options:
        options["planner_options"] = planner_options
    return (*first, Action("plan", state.name, **options))


def _hashable(value: Any) -> Any:
    """A value from JSON, its lists as tuples, and so are lists in these."""
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def read_plan_options(store: GraphStore, dataset: str, name: str) -> dict[str, Any]:
    """Read the planner's own options of a plan; none where there is no such plan."""
    for row in store.read(statements.PLAN, dataset=dataset, plan=name):
        return dict(json.loads(row["plan"].get("planner_options") or "{}"))
    return {}


def read_plan_sizes(store: GraphStore, dataset: str, name: str) -> tuple[int, int] | None:
    """Read the smallest and largest clique of a plan; None where it has none, or is not kept."""
    for row in store.read(statements.PLAN, dataset=dataset, plan=name):
        if row["plan"].get("min_size") is not None:
            return row["plan"]["min_size"], row["plan"]["max_size"]
    return None


def find_default_plan(store: GraphStore, dataset: str) -> str:
    """Find the plan to take where none is named: the first of `DEFAULT_PLANS` that exists."""
    names = {row["plan"]["name"] for row in store.read(statements.PLANS, dataset=dataset)}
    return next((name for name in DEFAULT_PLANS if name in names), DEFAULT_PLANS[0])


def read_plan(store: GraphStore, dataset: str, name: str) -> list[PlannedQuery]:
    """Read a plan's queries in the order to run them: size descending, then concepts, then class.

    Those that edit images or name sources come in the order in which they were planned.

    Raises
    ------
    NotFoundError
        There is no such dataset, or it has no plan yet.
    UnknownNameError
        None of its plans has this name.
    StaleError
        The plan was made before the dataset was mined as it is now; or, where it edits images,
        for other images than the dataset has now.
    """
    state = dataset_state(store, dataset)
    rows = store.read(statements.PLANS, dataset=dataset)
    plans = {row["plan"]["name"]: row["plan"] for row in rows}
    if name not in plans:
        if plans:
            raise UnknownNameError("plan", name, plans)
        options = {} if name in DEFAULT_PLANS else {"name": name}
        remedy = (*replan_actions(state, options), ".")
        raise NotFoundError("plan", name, f"{dataset!r} has no plan yet. ", *remedy)

    changed = find_outdated(state, plans[name])
    if changed is not None:
        raise StaleError(
            f"The plan {name!r} of {dataset!r} was made for other {changed} than the dataset has "
            "now. ",
            *replan_actions(state, plans[name]),
            ".",
        )

    rows = store.read(statements.PLAN_QUERIES, dataset=dataset, plan=name)
    rows.sort(key=_place_in_plan)
    return [
        PlannedQuery(
            class_name=row["class_name"],
            concepts=tuple(row["concepts"]),
            n=row["n"],
            edit=read_edit(row),
            sources=tuple(row["sources"] or ()),
        )
        for row in rows
    ]


def _place_in_plan(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (
        row["position"] is not None,
        row["position"] or 0,
        -len(row["concepts"]),
        row["concepts"],
        row["class_name"],
    )
