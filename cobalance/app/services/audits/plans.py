"""Which queries of plans rest on imbalances that audits support."""

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from cobalance.annotation.auditing.imbalance import Verdict
from cobalance.app.services.audits.results import read_corrections
from cobalance.generation.planning.plan import GenerationQuery
from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.database.store import GraphStore
from cobalance.ingest.concepts.plurals import counted


def query_verdicts(
    store: GraphStore, dataset: str, cliques: Cliques, queries: Sequence[GenerationQuery]
) -> list[Verdict | None] | None:
    """What audits say of the imbalance that each query closes.

    It is that of the query's class and the class with the most images of its concepts.

    Parameters
    ----------
    cliques : Cliques
        Those that the queries were planned for.

    Returns
    -------
    list of str or None
        None for a query without concepts of a model, or whose class has the most images already;
        None in place of the list where no accepted run is audited.
    """
    corrections = read_corrections(store, dataset)
    if corrections is None:
        return None
    most = [cliques.classes[code] for code in cliques.counts.argmax(axis=1)]
    over = dict(zip(cliques.names(), most, strict=True))
    rows = [(query.concepts, over.get(query.concepts), query.class_name) for query in queries]
    frame = pd.DataFrame(
        [(concepts, None if most == name else most, name) for concepts, most, name in rows],
        columns=["concepts", "over_represented", "under_represented"],
        dtype=object,
    )
    return corrections.verdicts(frame)


def is_supported(verdict: Verdict | None) -> bool:
    """Whether a query may stay in a plan of supported imbalances alone."""
    return verdict in (None, "supported")


def unsupported_queries(
    queries: Sequence[GenerationQuery], verdicts: Sequence[Verdict | None] | None
) -> str:
    """Warn of queries that no audit supports; empty where all are, or nothing is audited.

    Examples
    --------
    >>> queries = [GenerationQuery("owl", ("sky",), 30), GenerationQuery("owl", ("sea",), 5)]
    >>> unsupported_queries(queries, ["not supported", "supported"])
    'No audit supports the imbalances of 1 query of 2 (30 images): 1 not supported.'
    >>> unsupported_queries(queries, ["supported", None]), unsupported_queries(queries, None)
    ('', '')
    """
    left = [
        (query.n, said)
        for query, said in zip(queries, verdicts or (), strict=verdicts is not None)
        if said is not None and not is_supported(said)
    ]
    if not left:
        return ""
    how = ", ".join(
        f"{n:,} {said}" for said, n in sorted(Counter(said for _, said in left).items())
    )
    return (
        f"No audit supports the imbalances of {counted(len(left), 'queries')} of "
        f"{len(queries):,} ({counted(sum(n for n, _ in left), 'images')}): {how}."
    )
