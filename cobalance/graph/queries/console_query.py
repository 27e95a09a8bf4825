"""Run a saved query, or a free one that only reads."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from cobalance.graph.console.run import ConsoleResult, run_console_query
from cobalance.graph.database.query import describe_parameters
from cobalance.graph.database.store import GraphStore
from cobalance.graph.queries.binding import bind_named
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.graph.queries.nodes import name_of, read_node_names


@dataclass(frozen=True)
class ConsoleQuery:
    """A query to run on the graph.

    Parameters
    ----------
    text : str
        The name of a saved query, or Cypher.
    is_saved : bool
        Whether `text` is such a name.
    given : dict
        Its parameters.
    most_rows : int
        Limit of rows to show.
    timeout_s : float
        Time limit.
    """

    text: str
    is_saved: bool
    given: dict[str, Any]
    most_rows: int
    timeout_s: float

    def run(self, store: GraphStore) -> ConsoleResult:
        """Run it; see `run_console_query` and `bind_named` for the errors raised."""
        text, parameters = self.text, self.given
        if self.is_saved:
            given_limit = parameters.get("limit")
            if "limit" in CATALOGUE[text].parameters and given_limit in (None, self.most_rows):
                parameters = {**parameters, "limit": self.most_rows + 1}  # more than are shown
            query, parameters = bind_named(store, self.text, parameters)
            text = query.text
        return run_console_query(
            store.open_driver,
            store.database,
            text,
            parameters,
            timeout_s=self.timeout_s,
            max_rows=self.most_rows,
        )


def names_in(store: GraphStore, result: ConsoleResult) -> dict[str, str]:
    """Read the names of a result's nodes and of the other ends of its relationships, by id."""
    names, ends = dict[str, str](), dict[str, None]()
    left: list[Any] = [value for row in result.rows for value in row]
    while left:
        value = left.pop()
        if isinstance(value, list):
            left.extend(value)
        elif isinstance(value, dict):
            if value.keys() == {"id", "labels", "properties"}:
                names[value["id"]] = name_of(value["labels"], value["properties"])
            elif value.keys() == {"id", "type", "start", "end", "properties"}:
                ends |= dict.fromkeys((value["start"], value["end"]))
            else:
                left.extend(value.values())
    return names | read_node_names(store, [end for end in ends if end not in names])


def result_frame(result: ConsoleResult) -> pd.DataFrame:
    """A result as a frame; ``frame.attrs["truncated"]`` says whether rows are missing."""
    frame = pd.DataFrame(result.rows, columns=list(result.columns), dtype=object).infer_objects()
    frame.attrs["truncated"] = result.truncated
    return frame


def search_saved(words: str) -> list[str]:
    """The names of the saved queries that all of these words stand in, best first.

    A query's name counts more than its purpose, and that more than its Cypher; case does not
    matter. Those that count images by themselves come last, as they are slow.

    Examples
    --------
    >>> search_saved("Weakest CHAIN")
    ['shortest-link']
    """
    wanted = words.casefold().split()
    ranks = dict[str, tuple[int, bool, str]]()
    for name, query in CATALOGUE.items():
        told = (name, f"{name} {query.purpose}", f"{name} {query.purpose} {query.text}")
        found = [all(word in text.casefold() for word in wanted) for text in told]
        if any(found):
            ranks[name] = found.index(True), query.scans_images, name
    return sorted(ranks, key=ranks.__getitem__)


def saved_queries() -> pd.DataFrame:
    """List the query catalogue as a table: name, parameters, question answered."""
    return pd.DataFrame(
        [(name, describe_parameters(query), query.purpose) for name, query in CATALOGUE.items()],
        columns=["query", "parameters", "answers"],
    )
