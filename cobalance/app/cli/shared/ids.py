"""Ids of jobs, tasks, runs and evaluations as arguments: the first characters do."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from cobalance.app.cli.shared.stores import kept_store
from cobalance.base.errors import NotFoundError, OptionError
from cobalance.graph.database import store as stores
from cobalance.graph.database.annotation_nodes import ANNOTATION_RUN
from cobalance.graph.database.declarations import Node
from cobalance.graph.database.evaluation_nodes import EVALUATION, TASK
from cobalance.graph.database.job_nodes import JOB
from cobalance.graph.queries import nodes as node_queries

SHORTEST_ID = 4  # characters
_KINDS = {
    JOB: ("job", "cobalance jobs list"),
    TASK: ("task", "cobalance jobs list"),
    ANNOTATION_RUN: ("annotation run", "cobalance annotate runs"),
    EVALUATION: ("evaluation", "cobalance jobs list --tasks"),
}


def find_id(store: "stores.GraphStore", given: str, *nodes: Node) -> str:
    """The id of one of some kinds that begins with what was given.

    Raises
    ------
    NotFoundError
        No id begins so, or too few characters are given.
    OptionError
        Several do.
    """
    found = node_queries.ids_beginning(store, given, *nodes)
    if given in found:
        return given
    if len(found) > 1 and len(given) >= SHORTEST_ID:
        kinds = " or ".join(f"{_KINDS[node][0]}s" for node in nodes if node.label in found.values())
        raise OptionError(
            f"Several {kinds} begin with {given!r}: {', '.join(found)}. Give one of them."
        )
    if not found or len(given) < SHORTEST_ID:
        kind, listing = _KINDS[nodes[0]]
        why = "It may have been dropped with its dataset."
        if len(given) < SHORTEST_ID:
            why = f"Give the first {SHORTEST_ID} characters of its id, or more."
        raise NotFoundError(kind, given, f"{why} To list those there are: {listing}")
    return next(iter(found))


def full_id(*nodes: Node) -> Callable[[typer.Context, Any], Any]:
    """Callback of an argument that completes an id, or each of several; None stays None."""

    def complete(context: typer.Context, given: str | list[str] | None) -> str | list[str] | None:
        if given is None or context.resilient_parsing:
            return given
        store = kept_store(context)
        if isinstance(given, str):
            return find_id(store, given, *nodes)
        return list(dict.fromkeys(find_id(store, one, *nodes) for one in given))

    return complete


def _argument(metavar: str, help_: str, *nodes: Node) -> Any:
    _, listing = _KINDS[nodes[0]]
    first = f"{help_}, or its first {SHORTEST_ID} characters or more; see `{listing}`."
    return typer.Argument(metavar=metavar, help=first, callback=full_id(*nodes))


JobId = Annotated[str, _argument("JOB", "A job's id", JOB)]
WorkId = Annotated[str, _argument("JOB", "Id of a job or a task, such as an evaluation", JOB, TASK)]
RunId = Annotated[str, _argument("RUN", "An annotation run's id", ANNOTATION_RUN)]
EvaluationId = Annotated[str, _argument("EVALUATION", "An evaluation's id", EVALUATION)]
EvaluationIds = Annotated[list[str], _argument("EVALUATION...", "Each one's id", EVALUATION)]
