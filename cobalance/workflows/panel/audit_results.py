"""Labels' precision and recall from an audit, and the imbalances that rest on them."""

import pandas as pd

from cobalance.annotation.auditing.answers import decided
from cobalance.annotation.auditing.correction import corrected_counts, rates
from cobalance.annotation.auditing.imbalance import corrected_imbalances
from cobalance.graph.audits.reading import Audit, read_answers
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
