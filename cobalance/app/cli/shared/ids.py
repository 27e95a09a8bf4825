"""Ids of jobs, tasks, runs and evaluations as arguments: the first characters do."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from cobalance.app.cli.shared.stores import kept_store
from cobalance.base import NotFoundError, OptionError
from cobalance.graph import ANNOTATION_RUN, EVALUATION, JOB, TASK, Node
from cobalance.graph.database import store as stores
from cobalance.graph.queries import nodes as node_queries

SHORTEST_ID = 4  # characters
_KINDS = {
    JOB: ("job", "cobalance jobs list"),
    TASK: ("task", "cobalance jobs list"),
    ANNOTATION_RUN: ("annotation run", "cobalance annotate runs"),
    EVALUATION: ("evaluation", "cobalance jobs list --tasks"),
}


def find_id(store: "stores.GraphStore", start: str, *nodes: Node) -> str:
    """The id of one of some kinds that begins with some characters.

    Raises
    ------
    NotFoundError
        No id begins so, or too few characters are given.
    OptionError
        Several do.
    """
    labels = node_queries.ids_beginning(store, start, *nodes)
    if start in labels:
        return start

    is_short = len(start) < SHORTEST_ID
    if len(labels) > 1 and not is_short:
        kinds = " or ".join(
            f"{_KINDS[node][0]}s" for node in nodes if node.label in labels.values()
        )
        raise OptionError(
            f"Several {kinds} begin with {start!r}: {', '.join(labels)}. Give one of them."
        )
    if not labels or is_short:
        kind, listing = _KINDS[nodes[0]]
        why = "It may have been dropped with its dataset."
        if is_short:
            why = f"Give the first {SHORTEST_ID} characters of its id, or more."
        raise NotFoundError(kind, start, f"{why} To list those there are: {listing}")
    return next(iter(labels))


def full_id(*nodes: Node) -> Callable[[typer.Context, Any], Any]:
    """Callback of an argument that completes an id, or each of several; None stays None."""

    def complete(context: typer.Context, typed: str | list[str] | None) -> str | list[str] | None:
        # Completion in a shell parses the line, too, and opens no store.
        if typed is None or context.resilient_parsing:
            return typed

        store = kept_store(context)
        if isinstance(typed, str):
            return find_id(store, typed, *nodes)
        return list(dict.fromkeys(find_id(store, start, *nodes) for start in typed))

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
