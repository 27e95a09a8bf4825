"""Queries and lists of jobs that stores and datasets share."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from cobalance.display import ALL
from cobalance.graph.database.store import GraphStore
from cobalance.graph.jobs.status import list_jobs
from cobalance.graph.queries.binding import bind_named
from cobalance.graph.queries.console_query import ConsoleQuery, result_frame
from cobalance.wording import methods_speak_python
from cobalance.workflows.work.tables import jobs_frame


@methods_speak_python
class Questions:
    """Queries of a store, or of one dataset of it."""

    graph: GraphStore

    def scope(self) -> dict[str, str]:
        """Parameters that every query is given: none, or the name of the dataset."""
        return {}

    def query(self, name: str, /, **parameters: Any) -> pd.DataFrame:
        """Answer a saved query, see `Store.queries`; a dataset passes its name to it.

        Raises
        ------
        OptionError
            No query, parameter, class or concept has this name, or a parameter is missing.
        StaleError
            The dataset has to be mined first.
        """
        query, bound = bind_named(self.graph, name, self.scope() | parameters)
        return self.graph.read_frame(query.text, **bound)

    def cypher(
        self,
        text: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        timeout_s: float = 30.0,
        max_rows: int = 100_000,
        **named: Any,
    ) -> pd.DataFrame:
        """Run Cypher that only reads; ``$dataset`` is the name of the dataset that is asked.

        Parameters
        ----------
        parameters : mapping, optional
            Values of ``$name``; also given as keywords.
        timeout_s : float
            When to give up.
        max_rows : int
            At most so many rows; ``frame.attrs["truncated"]`` says whether there are more.

        Raises
        ------
        QueryRefusedError, QueryError, QueryTimeoutError
            It does more than read, is wrong, or takes too long.
        """
        given = {**self.scope(), **(parameters or {}), **named}
        return result_frame(ConsoleQuery(text, False, given, max_rows, timeout_s).run(self.graph))

    def jobs(self) -> pd.DataFrame:
        """A row a job, the newest first."""
        return jobs_frame(list_jobs(self.graph, self.scope().get("dataset"), limit=ALL))
