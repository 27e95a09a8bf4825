"""`cobalance cypher`: saved queries and your own Cypher, read only."""

from typing import Annotated, Any

import typer

from cobalance.app.cli.shared import (
    DatasetOption,
    LimitOption,
    TableOutput,
    note_limit,
    opened_store,
    out,
)
from cobalance.base import OptionError, documents
from cobalance.graph import CATALOGUE, Query
from cobalance.graph.dataset import state as states
from cobalance.graph.queries import console_query


def cypher(
    to: TableOutput,
    query: Annotated[
        str | None,
        typer.Argument(
            help="Name of a saved query, or Cypher that only reads.", show_default=False
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", "-l", help="List the saved queries.")] = False,
    show: Annotated[bool, "Print the Cypher of the saved query; do not run it."] = False,
    dataset: Annotated[DatasetOption, "The dataset: the same as --param dataset=NAME."] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="NAME=VALUE"),
        "A parameter; a list as JSON, or repeat it. Repeatable.",
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Time limit in seconds, of the query.")
    ] = 30.0,
    limit: LimitOption = 1000,
) -> None:
    """Run a saved query by name, or read-only Cypher of your own."""
    if list_ or query is None:
        to.write(console_query.saved_queries(), whole=True)
        return
    is_one_word = query.replace("-", "").isalnum()
    # One word is no Cypher, which has more: an unknown name raises and lists the saved queries.
    if show or is_one_word:
        saved = CATALOGUE[query]
        if show:
            out.print(saved.text, soft_wrap=True)
            return

    assignments = param or []
    if dataset is not None:
        assignments = [f"dataset={dataset}", *assignments]

    is_saved = query in CATALOGUE
    parameters = parse_parameters(assignments, CATALOGUE[query] if is_saved else None)
    console = console_query.ConsoleQuery(query, is_saved, parameters, limit, timeout)
    with opened_store() as (store, _):
        if dataset is not None and not is_saved:
            states.dataset_state(store, dataset)
        result = console.run(store)

    to.write(console_query.result_frame(result))
    if result.truncated:
        note_limit(limit)


def parse_parameters(assignments: list[str], query: Query | None = None) -> dict[str, Any]:
    """Parse NAME=VALUE pairs by the types that a saved query declares, else as JSON or text."""
    parameters: dict[str, Any] = {}
    declared = query.parameters if query else {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals or not name:
            raise OptionError(
                f"--param {assignment!r} is not NAME=VALUE, such as --param concept=cow."
            )

        kind = declared[name].type if name in declared else None
        value = _json_or_text(text)
        # An entry of a list need not be JSON: `[bold]` is a name like any other.
        if kind is list and not isinstance(value, list):
            parameters.setdefault(name, []).append(text)
        else:
            parameters[name] = text if kind is str else value
    return parameters


def _json_or_text(value: str) -> Any:
    try:
        return documents.decode_json(value)
    except ValueError:
        return value
