"""Counts and imbalances corrected by audits, and the verdicts on imbalances and planned queries."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from cobalance.annotation import (
    LabelSettings,
    Verdict,
    clique_verdicts,
    corrected_counts,
    corrected_imbalances,
    rates,
    select_agreed,
)
from cobalance.base import PlannedQuery, inflect, values_at
from cobalance.counting import Cliques
from cobalance.graph import Audit, GraphStore, list_panels, list_runs, read_answers
from cobalance.workflows.cells import count_texts


def audit_rates(store: GraphStore, audit: Audit) -> pd.DataFrame:
    """Rates of right labels of each concept and class so far, and counts corrected by them.

    Returns
    -------
    pandas.DataFrame
        ``concept``, ``class_name``, ``labelled`` and ``unlabelled`` images, ``precision`` and
        ``false_omission`` with ``_low``, ``_high`` and ``_n`` (images that people agree on), and
        ``corrected``, ``low`` and ``high``; NaN where nothing is known.
    """
    right = rates(select_agreed(audit.labels, read_answers(store, audit)))
    counts = audit.counts.merge(right, how="left", on=["concept", "class_name"])
    for name in ("precision_n", "false_omission_n"):
        counts[name] = counts[name].fillna(0).astype("int64")
    corrected = corrected_counts(audit.counts, right)
    counts[["corrected", "low", "high"]] = corrected[["corrected", "low", "high"]].to_numpy()
    return counts


def audit_imbalances(store: GraphStore, audit: Audit) -> pd.DataFrame:
    """The imbalance of each concept before and after its labels are corrected.

    See `cobalance.annotation.auditing.imbalance.corrected_imbalances`.
    """
    return corrected_imbalances(audit_rates(store, audit))


def query_verdicts(
    store: GraphStore, dataset: str, cliques: Cliques, queries: Sequence[PlannedQuery]
) -> list[Verdict | None] | None:
    """Verdicts of audits on the imbalance that each query closes.

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
    most = values_at(cliques.classes, cliques.counts.argmax(axis=1))
    most_by_clique = dict(zip(cliques.names(), most, strict=True))

    # A class that has the most images of a clique is under-represented by no other.
    rows = []
    for query in queries:
        over = most_by_clique.get(query.concepts)
        over = None if over == query.class_name else over
        rows.append((query.concepts, over, query.class_name))
    columns = ["concepts", "over_represented", "under_represented"]
    return corrections.verdicts(pd.DataFrame(rows, columns=columns, dtype=object))


def is_supported(verdict: Verdict | None) -> bool:
    """Whether a query may stay in a plan of supported imbalances alone."""
    return verdict in (None, "supported")


def warn_unsupported(
    queries: Sequence[PlannedQuery], verdicts: Sequence[Verdict | None] | None
) -> str:
    """Warn of queries that no audit supports; empty where all are, or nothing is audited."""
    n_images = 0
    counts = Counter[Verdict]()
    for query, verdict in zip(queries, verdicts or (), strict=verdicts is not None):
        if verdict is not None and not is_supported(verdict):
            counts[verdict] += 1
            n_images += query.n

    if not counts:
        return ""
    reasons = ", ".join(count_texts(sorted(counts.items())))
    return (
        f"No audit supports the imbalances of {inflect(counts.total(), 'queries')} of "
        f"{len(queries):,} ({inflect(n_images, 'images')}): {reasons}."
    )


@dataclass(frozen=True, eq=False)
class Corrections:
    """Corrected counts of the concepts that a dataset's accepted runs label.

    Parameters
    ----------
    counts : pandas.DataFrame
        From `audit_rates`, of each concept and clique by its newest audit that has answers;
        ``concepts`` (tuple of str) in place of ``concept``.
    by_models : frozenset of str
        All concepts that accepted runs label.
    """

    counts: pd.DataFrame
    by_models: frozenset[str]

    def verdicts(self, cliques: pd.DataFrame) -> list[Verdict | None]:
        """See `cobalance.annotation.auditing.imbalance.clique_verdicts`."""
        return clique_verdicts(cliques, self.counts, self.by_models)


def read_corrections(store: GraphStore, dataset: str) -> Corrections | None:
    """Read counts corrected by audits of a dataset's accepted runs; None without audits."""
    runs = {
        run.id: LabelSettings.read(run.settings)
        for run in list_runs(store, dataset)
        if run.state == "accepted" and run.kind != "propose"
    }
    audits = [audit for audit in list_panels(store, Audit, dataset=dataset) if audit.run in runs]
    if not audits:
        return None

    # Audits come newest first: the first that has answers on a concept counts.
    columns = ["concepts", "class_name", "corrected", "low", "high"]
    newest: dict[tuple[str, ...], pd.DataFrame] = {}
    for audit in audits:
        audited = audit_rates(store, audit)
        audited["concepts"] = audited["concept"].map(audit.members)
        for concept, of_concept in audited.groupby("concept", observed=True):
            if of_concept["corrected"].notna().any():
                newest.setdefault(audit.members(str(concept)), of_concept)
    tables = list(newest.values()) or [pd.DataFrame(columns=columns)]

    by_models: set[str] = set()
    for settings in runs.values():
        by_models.update(attribute.concept for attribute in settings.attributes)
    return Corrections(pd.concat(tables, ignore_index=True), frozenset(by_models))


def imbalance_verdicts(
    store: GraphStore, dataset: str, cliques: pd.DataFrame
) -> list[Verdict | None] | None:
    """Verdicts of audits of a dataset's accepted runs on the imbalances of cliques.

    Parameters
    ----------
    cliques : pandas.DataFrame
        ``concepts``, ``over_represented`` and ``under_represented``.

    Returns
    -------
    list of str or None
        See `cobalance.annotation.auditing.imbalance.clique_verdicts`; None where no accepted run is
        audited.
    """
    corrections = read_corrections(store, dataset)
    return None if corrections is None else corrections.verdicts(cliques)
