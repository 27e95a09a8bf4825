"""What audits say of labels and of the imbalances that rest on them."""

from dataclasses import dataclass

import pandas as pd

from cobalance.annotation.auditing.answers import decided
from cobalance.annotation.auditing.correction import corrected_counts, rates
from cobalance.annotation.auditing.imbalance import Verdict, clique_verdicts, corrected_imbalances
from cobalance.annotation.labelling.settings import LabelSettings
from cobalance.graph.annotations.runs import list_runs
from cobalance.graph.audits.reading import Audit, audits_of_dataset, read_answers
from cobalance.graph.database.store import GraphStore

KEYS = ["concept", "class_name"]
CORRECTED = ["class_name", "corrected", "low", "high"]


def audit_rates(store: GraphStore, audit: Audit) -> pd.DataFrame:
    """Rates of right labels of each concept and class so far, and counts corrected by them.

    Returns
    -------
    pandas.DataFrame
        ``concept``, ``class_name``, ``labelled`` and ``unlabelled`` images, ``precision`` and
        ``false_omission`` with ``_low``, ``_high`` and ``_n`` (images that people agree on), and
        ``corrected``, ``low`` and ``high``; NaN where nothing is known.
    """
    found = rates(decided(audit.labels, read_answers(store, audit.id)))
    counts = audit.counts.merge(found, how="left", on=KEYS)
    for name in ("precision_n", "false_omission_n"):
        counts[name] = counts[name].fillna(0).astype("int64")
    corrected = corrected_counts(audit.counts, found)
    counts[["corrected", "low", "high"]] = corrected[["corrected", "low", "high"]].to_numpy()
    return counts


def audit_imbalances(store: GraphStore, audit: Audit) -> pd.DataFrame:
    """The imbalance of each concept before and after its labels are corrected.

    See `cobalance.annotation.auditing.imbalance.corrected_imbalances`.
    """
    return corrected_imbalances(audit_rates(store, audit))


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
    """Read what the audits of a dataset's accepted runs say; None where none is audited."""
    audits = audits_of_dataset(store, dataset)
    if not audits:
        return None
    runs = {
        run.id: LabelSettings.read(run.settings)
        for run in list_runs(store, dataset)
        if run.state == "accepted" and run.kind != "propose"
    }
    audits = [audit for audit in audits if audit.run in runs]
    if not audits:
        return None
    known: dict[tuple[str, ...], pd.DataFrame] = {}
    for audit in audits:
        found = audit_rates(store, audit)
        found["concepts"] = found["concept"].map(audit.members)
        for concept, of in found.groupby("concept", observed=True):
            if of["corrected"].notna().any():
                known.setdefault(audit.members(str(concept)), of)
    frames = [*known.values()] or [pd.DataFrame(columns=["concepts", *CORRECTED])]
    by_models = {one.concept for settings in runs.values() for one in settings.attributes}
    return Corrections(pd.concat(frames, ignore_index=True), frozenset(by_models))


def imbalance_verdicts(
    store: GraphStore, dataset: str, cliques: pd.DataFrame
) -> list[Verdict | None] | None:
    """What the audits of a dataset's accepted runs say of the imbalances of cliques.

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
