"""The imbalance table: its columns and how they are drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.widgets import count_column, escape, minus_signs, text_column, unless_empty
from cobalance.statistics import COUNT, EVIDENCE, GAP, OWN, RATE
from cobalance.workflows import (
    DISAGREEMENT,
    NEUTRAL,
    accuracy_texts,
    class_colors,
    disagreement_texts,
    effect_texts,
    log_odds_texts,
    own_texts,
    q_text,
)

_SHORTER = {
    "as many images, different rates": "as many, different rates",
}
"""Words of where counts and rates disagree that are too long for a column."""
RATES = "rates"
"""The column of the rates of all classes, as bars in one cell."""
MAX_BARS = 4  # classes that have their counts beside the bars


def imbalance_columns(classes: Sequence[str], most: float, largest: int) -> dict[str, Any]:
    """Column configuration of an imbalance table.

    `most` is the rate of a full bar, in percent, `largest` the most concepts of a row.
    """
    columns = _lean_columns(len(classes), largest) | _evidence_columns()
    columns[RATES] = st.column_config.BarChartColumn(
        "Rates",
        width=max(70, min(140, 25 * len(classes))),
        y_min=0,
        y_max=most or 1,
        color=NEUTRAL,
        help=f"The share of each class's images: {escape(', '.join(classes))}.",
    )
    for name, color in class_colors(classes).items():
        columns[COUNT + name] = count_column(name, width=60)
        columns[RATE + name] = rate_column(name, most, color)
    return columns


def _lean_columns(n_classes: int, largest: int) -> dict[str, Any]:
    """Columns of the concepts, and of the class that they lean to and how far."""
    return {
        "concepts": st.column_config.ListColumn(
            "Concepts", width=max(110, min(230, 75 * largest)), pinned=True
        ),
        "repeats": text_column(
            "Repeats",
            width=65,
            help="Combinations within this one that have the same images, and no more.",
        ),
        # Of many classes the text names the lowest, too.
        "rate difference": text_column(
            "Rate difference",
            width=115 if n_classes == 2 else 190,
            help="The largest rate less the smallest, and the classes that have these.",
        ),
        "gap": count_column(
            "Count gap (ConBias)",
            width=145,
            help="Images that the class with the fewest lacks, however many it has in all.",
        ),
        "most": text_column("Most", width=80, help="The class with the most images."),
        DISAGREEMENT: disagreement_column(),
        "too few": text_column(
            "Too few",
            width=80 if n_classes <= MAX_BARS else 115,
            help="The class with the fewest images.",
        ),
        "size": st.column_config.NumberColumn("Size", width=50),
        "clusters": count_column(
            "Clusters", width=65, help="In how many clusters of images it stands: videos, patients."
        ),
    }


def _evidence_columns() -> dict[str, Any]:
    """Columns of tests, of a combination's own effect, of a model's accuracy and of audits."""
    return {
        "log odds ratio": text_column(
            "Log odds ratio [95%]", width=170, help="Of the classes of the rate difference."
        ),
        "q-value": text_column(
            "q-value", width=58, help="Of one rate in all classes; Benjamini-Hochberg."
        ),
        "own effect": text_column(
            "Own effect",
            width=115,
            help="Of the difference of rates, what the parts of the combination do not explain: "
            "observed less expected rate, in the class where that is largest less in the one where "
            "it is smallest (log-linear model without the highest interaction).",
        ),
        "by its parts": text_column(
            "Explained by parts",
            width=125,
            alignment="right",
            help="Share of the rate difference that the parts of the combination explain.",
        ),
        "own q-value": text_column(
            "Own q-value", width=85, help="Of no effect of its own, over all combinations."
        ),
        "accuracy": text_column(
            "Accuracy % [95%]",
            width=125,
            alignment="right",
            help="Of the chosen model, on the test images that show all of these concepts.",
        ),
        "test images": count_column("Tested", width=60),
        "audit": text_column(
            "Audit",
            width=100,
            help="Whether the imbalance is left once the errors of models' labels are taken off, "
            "as people found them. A dash: no model labelled these concepts.",
        ),
    }


def rate_column(name: str, most: float, color: str) -> Any:
    """A column of the share of a class's images, in percent, as bars in the class's colour."""
    return st.column_config.ProgressColumn(
        f"% of {name}",
        min_value=0,
        max_value=most or 1,
        format="%.1f%%",
        width=85,
        color=color,
        help="Share of the class's images.",
    )


def disagreement_column() -> Any:
    """Configuration of the column of words where counts and rates disagree."""
    return text_column(
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

    Where counts and rates disagree, a column says how. Rates are in percent; many classes have no
    counts beside them. A model's accuracy on each row, from
    `cobalance.workflows.evaluate.failures`, comes after the q-value; then what audits say of
    each row. A table that is sorted `by` the count gap has that first.
    """
    classes = list(class_sizes)
    has_few_classes = len(classes) <= MAX_BARS
    view = pd.DataFrame({"concepts": list(map(list, frame["concepts"]))})
    if "repeats" in frame and frame["repeats"].map(len).any():
        view["repeats"] = [unless_empty("+{}", len(same)) for same in frame["repeats"]]

    rates = 100 * frame[[RATE + name for name in classes]].fillna(0).to_numpy()
    view[RATES] = rates.tolist()
    view["rate difference"] = effect_texts(frame)
    view["q-value"] = list(map(q_text, frame["q_value"]))
    for name, texts in disagreement_texts(frame).items():
        view[name] = [_SHORTER.get(text, text) for text in texts]
    if accuracy is not None:
        view["accuracy"] = accuracy_texts(accuracy)
        view["test images"] = accuracy["test_images"].to_numpy()
    if audited is not None:
        view["audit"] = [verdict or "-" for verdict in audited]

    # Values of the frame go without its index, which is not that of the view.
    for name in classes:
        view[RATE + name] = 100 * frame[RATE + name].to_numpy()
    if has_few_classes:
        for name in classes:
            view[COUNT + name] = frame[COUNT + name].to_numpy()
    if "clusters" in frame:
        view["clusters"] = frame["clusters"].to_numpy()

    own_effects = own_texts(frame) if "own_effect" in frame else {}
    for name, texts in own_effects.items():
        view[name] = texts
    view["gap"] = frame["gap"].to_numpy()
    # Of two classes, the other one than "too few" has the most images.
    if len(classes) != 2:
        view["most"] = frame["over_represented"].astype(object).fillna("-").to_numpy()
    view["too few"] = frame["under_represented"].astype(object).fillna("-").to_numpy()
    view["size"] = frame["size"].to_numpy()

    # Before the bars of many classes, which take more than a screen.
    place = len(view.columns) if has_few_classes else [*view].index("q-value") + 1
    view.insert(place, "log odds ratio", list(map(minus_signs, log_odds_texts(frame))))
    if by == GAP:
        view.insert(1, "gap", view.pop("gap"))
    if by == OWN:
        for place, name in enumerate(own_effects, 1):
            view.insert(place, name, view.pop(name))
    return view
