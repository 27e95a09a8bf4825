"""Store plans: each query linked to its class, and to its clique or the image that it edits."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, fields
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from cobalance.base.errors import Action, NotFoundError, Part, StaleError, UnknownNameError
from cobalance.base.progress import Progress, silent
from cobalance.base.records import Edit, PlannedQuery
from cobalance.graph.database import schema
from cobalance.graph.database.claim import Claim
from cobalance.graph.database.store import GraphStore
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
    known_classes = set(read_names(store, dataset, schema.CLASS))
    stored = {
        tuple(row["key"]): row["digest"]
        for row in store.stream(statements.STORED_QUERIES, dataset=dataset, plan=name)
    }
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
    store.write(
        statements.MERGE_PLAN, dataset=dataset, plan=name, properties=schema.PLAN.check(properties)
    )

    def rows_at(positions: npt.NDArray[np.int64]) -> list[NodeRow]:
        rows: list[NodeRow] = []
        for i in positions.tolist():
            class_name, concepts, n, edit, sources = queries[i]
            edited = edit_properties(edit)
            ordered = edit is not None or bool(sources)
            properties: list[Any] = [
                *(digests[i], name, class_name, list(concepts), n, list(sources) or None),
                *edited.values(),
                i if ordered else None,
            ]
            # An image may be edited to show a group that is no class of the dataset.
            classes = [class_name] if edit is None or class_name in known_classes else []
            # With a compared concept it need not have been mined.
            cliques = [] if ordered or state.compared else [concepts]
            images = sources if edit is None else [edit.source_image]
            rows.append((keys[i], properties, [[cliques], [classes], [images], [[name]]]))
        return rows

    apply_change(
        claim,
        schema.GENERATION_QUERY,
        (schema.REBALANCES, schema.FOR_CLASS, schema.EDITS, schema.ASKED_BY),
        compare(stored, keys, digests, delete=True),
        rows_at,
        "write plan",
        progress,
    )
    claim.finish(guards="cliques_digest")


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
    of_cliques = digest is None or mined_as is not None
    if of_cliques and not (state.is_mined and mined_as == state.mined_as):
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
    kept = dict(plan)
    own = json.loads(kept.get("planner_options") or "{}")
    if kept.get("images_digest") is not None:
        named = {} if kept["name"] == kept["planner"] else {"name": kept["name"]}
        changed = {option: _hashable(value) for option, value in own.items()}
        options = {"recipe": kept["planner"], **named, **changed}
        return (Action("plan_counterfactuals", state.name, **options),)
    largest = json.loads(state.mining or "{}").get("max_size")
    first: tuple[Part, ...] = ()
    if largest is not None and (kept.get("min_size") or 0) > largest:
        size = kept.get("max_size") or kept["min_size"]
        first = (Action("mine", state.name, max_size=size), ", then ")
    elif None not in (largest, kept.get("max_size")) and kept["max_size"] >= largest:
        del kept["max_size"]  # which is then as mined
    if kept.get("name") == kept.get("planner"):
        kept.pop("name", None)
    if kept.get("min_size") == (1 if kept.get("planner") == DEFAULT_PLANS[0] else 2):
        del kept["min_size"]  # the planner's own
    given = {name: kept[name] for name in _PLAN_OPTIONS if kept.get(name) is not None}
    if own:
        given["planner_options"] = own
    return (*first, Action("plan", state.name, **given))


def _hashable(value: Any) -> Any:
    """A value from JSON, its lists as tuples, and so are lists in these."""
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def read_plan_options(store: GraphStore, dataset: str, name: str) -> dict[str, Any]:
    """Read the planner's own options of a plan; none where there is no such plan."""
    rows = store.read(statements.PLAN, dataset=dataset, plan=name)
    return dict(json.loads(rows[0]["plan"].get("planner_options") or "{}")) if rows else {}


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
    plans = (row["plan"] for row in store.read(statements.PLANS, dataset=dataset))
    known = {plan["name"]: plan for plan in plans}
    if name not in known:
        if known:
            raise UnknownNameError("plan", name, known)
        named = {} if name in DEFAULT_PLANS else {"name": name}
        remedy = (*replan_actions(state, named), ".")
        raise NotFoundError("plan", name, f"{dataset!r} has no plan yet. ", *remedy)
    changed = find_outdated(state, known[name])
    if changed is not None:
        raise StaleError(
            f"The plan {name!r} of {dataset!r} was made for other {changed} than the dataset has "
            "now. ",
            *replan_actions(state, known[name]),
            ".",
        )
    rows = store.read(statements.PLAN_QUERIES, dataset=dataset, plan=name)
    rows.sort(
        key=lambda row: (
            row["position"] is not None,
            row["position"] or 0,
            -len(row["concepts"]),
            row["concepts"],
            row["class_name"],
        )
    )
    return [
        PlannedQuery(
            *(row["class_name"], tuple(row["concepts"]), row["n"]),
            read_edit(row),
            tuple(row["sources"] or ()),
        )
        for row in rows
    ]
