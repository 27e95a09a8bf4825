"""The imbalance table: its columns and how they are drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app.concept_graph.colors import class_colors
from app.services.evaluations.failures import accuracy_texts
from app.services.presenting.texts import (
    DISAGREEMENT,
    are_unequal,
    disagreement_texts,
    effect_texts,
    log_odds_texts,
    own_texts,
    q_text,
    rate_texts,
)
from app.views.widgets.tables import count_column
from graph.diagnosis.evidence import EVIDENCE, OWN
from graph.diagnosis.imbalance import COUNT, RATE
from graph.queries.imbalances import GAP

_SHORTER = {
    "fewest images, not the lowest rate": "fewest, not lowest rate",
    "as many images, different rates": "as many, different rates",
}
"""Words of where counts and rates disagree that are too long for a column."""
MAX_BARS = 4  # classes with a column of their own


def imbalance_columns(classes: Sequence[str], most: int) -> dict[str, Any]:
    """Column configuration of an imbalance table: chips, counts as bars, numbers to the right."""
    config = st.column_config
    columns: dict[str, Any] = {
        "concepts": config.ListColumn("Concepts", width=170),
        "repeats": config.TextColumn(
            "Repeats",
            width=65,
            help="Combinations within this one that have the same images, and no more.",
        ),
        "rate difference": config.TextColumn(
            "Rate difference",
            width=115,
            help="The largest rate less the smallest, and the class with the largest.",
        ),
        "gap": count_column(
            "Count gap (ConBias)",
            width=145,
            help="Images that the class with the fewest lacks, however many it has in all.",
        ),
        DISAGREEMENT: disagreement_column(),
        "too few": config.TextColumn(
            "Too few",
            width=80 if len(classes) <= MAX_BARS else 115,
            help="The class with the fewest images.",
        ),
        "accuracy": config.TextColumn(
            "Accuracy % [95%]",
            width=125,
            alignment="right",
            help="Of the chosen model, on the test images that show all of these concepts.",
        ),
        "test images": count_column("Tested", width=60),
        "audit": config.TextColumn(
            "Audit",
            width=100,
            help="Whether the imbalance is left once the errors of models' labels are taken off, "
            "as people found them. A dash: no model labelled these concepts.",
        ),
        "own effect": config.TextColumn(
            "Own effect",
            width=115,
            help="Of the difference of rates, what the parts of the combination do not explain: "
            "observed less expected rate, in the class where that is largest less in the one where "
            "it is smallest (log-linear model without the highest interaction).",
        ),
        "by its parts": config.TextColumn(
            "By its parts",
            width=90,
            alignment="right",
            help="Share of the rate difference that the parts of the combination explain.",
        ),
        "own q-value": config.TextColumn(
            "Own q-value", width=85, help="Of no effect of its own, over all combinations."
        ),
        "size": config.NumberColumn("Size", width=50),
        "counts": config.BarChartColumn("Counts", y_min=0, width="small"),
        "log odds ratio": config.TextColumn("Log odds ratio [95%]", width=170),
        "q-value": config.TextColumn("q-value", width=62, help="Benjamini-Hochberg."),
    }
    for name, color in class_colors(classes).items():
        columns[COUNT + name] = config.ProgressColumn(
            name, min_value=0, max_value=max(most, 1), format="localized", width=80, color=color
        )
        columns[RATE + name] = config.TextColumn(
            f"% of {name}", width=70, help="Share of the class's images."
        )
    return columns


def disagreement_column() -> Any:
    """Configuration of the column of words where counts and rates disagree."""
    return st.column_config.TextColumn(
        "Counts and rates",
        width=165,
        help="Where rates contradict the class that counts call too few.",
    )


def imbalance_view(
    frame: pd.DataFrame,
    class_sizes: Mapping[str, int],
    accuracy: pd.DataFrame | None = None,
    audited: Sequence[str | None] | None = None,
    by: str = EVIDENCE,
) -> pd.DataFrame:
    """The columns of `read_imbalances` as a page shows them, most telling first.

    Where counts and rates disagree, a column says how. Where classes are unequal, counts have
    their rates beside them. A model's accuracy on each row, from
    `app.services.evaluations.failures`, comes after the q-value; then what audits say of each row.
    A table that is sorted `by` the count gap has that first.
    """
    classes = list(class_sizes)
    shown = pd.DataFrame({"concepts": [list(names) for names in frame["concepts"]]})
    if "repeats" in frame and frame["repeats"].map(len).any():
        shown["repeats"] = [f"+{len(same)}" if same else "" for same in frame["repeats"]]
    shown["rate difference"] = effect_texts(frame)
    shown["q-value"] = [q_text(q) for q in frame["q_value"]]
    for name, words in disagreement_texts(frame).items():
        shown[name] = [_SHORTER.get(said, said) for said in words]
    if accuracy is not None:
        shown["accuracy"] = accuracy_texts(accuracy)
        shown["test images"] = accuracy["test_images"].to_numpy()
    if audited is not None:
        shown["audit"] = [verdict or "-" for verdict in audited]
    if len(classes) <= MAX_BARS:
        for name in classes:
            shown[COUNT + name] = frame[COUNT + name].to_numpy()
            if are_unequal(class_sizes):
                shown[RATE + name] = rate_texts(frame[RATE + name])
    else:
        shown["counts"] = frame[[COUNT + name for name in classes]].to_numpy().tolist()
    own = own_texts(frame) if "own_effect" in frame else {}
    for name, texts in own.items():
        shown[name] = texts
    shown["gap"] = frame["gap"].to_numpy()
    shown["too few"] = frame["under_represented"].astype(object).fillna("-").to_numpy()
    shown["size"] = frame["size"].to_numpy()
    shown["log odds ratio"] = log_odds_texts(frame)
    if by == GAP:
        shown.insert(1, "gap", shown.pop("gap"))
    if by == OWN:
        for place, name in enumerate(own, 1):
            shown.insert(place, name, shown.pop(name))
    return shown
