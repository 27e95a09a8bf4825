"""Print the results of `cobalance demo --annotate`."""

from collections.abc import Iterator
from shlex import quote

import numpy as np
import pandas as pd

from cobalance.app.cli.shared.options import out
from cobalance.app.cli.shared.tables import fitting_table
from cobalance.graph.wording import inflect
from cobalance.ingest.concepts.wording import listed
from cobalance.workflows.demo.annotate import NAME, PEOPLE, RARE, AnnotateDemo

VERDICTS = {
    "supported": "supported",
    "not supported": "not supported: invented",
    "reversed": "reversed",
}


def show_annotate(found: AnnotateDemo) -> None:
    """Print what was proposed, labelled and checked, and the imbalances before and after."""
    classes = sorted(set(found.pictures.table["class_name"]))
    sizes = listed(
        [f"{(found.pictures.table['class_name'] == name).sum()} of the class {name}"
         for name in classes]
    )  # fmt: skip
    out.print(
        f"\n[bold]What a model's labels are worth[/]: {len(found.pictures.table)} pictures, "
        f"{sizes}, of things before photographs. Nothing is said of the things. In truth all are "
        f"equally frequent in both classes but {RARE[0]}, which are rarer in {RARE[1]}.\n"
    )
    decided = found.attributes["state"].value_counts()
    out.print(
        f"A scripted language model on this machine was asked {inflect(found.asked, 'questions')} "
        f"and proposed {inflect(found.proposed.attributes, 'attributes')}; "
        f"{decided.get('accepted', 0)} were accepted and {decided.get('rejected', 0)} rejected, "
        "which name a class. A linear probe looked for them. The pictures that it was trained with "
        "have most things before the backgrounds of one class, and it learned that, too:\n"
    )
    out.print(fitting_table(measured_table(found), out))
    out.print("\nImbalances of the labels, as the graph shows them:\n")
    out.print(fitting_table(labelled_table(found), out))
    out.print(
        f"\n{listed(PEOPLE)} checked {inflect(found.checked, 'labels')}, with a mistake in about "
        "one of 30 answers. Gaps between the classes in images, before and after the correction, "
        "with intervals of 95%, and in truth:\n"
    )
    out.print(fitting_table(corrected_table(found), out))
    inside = found.corrected
    held = (inside["corrected_gap_low"] <= inside["true_gap"]) & (
        inside["true_gap"] <= inside["corrected_gap_high"]
    )
    before = int((inside["gap"] - inside["true_gap"]).abs().sum())
    after = float((inside["corrected_gap"] - inside["true_gap"]).abs().sum())
    out.print(
        f"\n{int(held.sum())} of {len(held)} true gaps are in the corrected intervals. The labels' "
        f"gaps are off by {inflect(before, 'images')} in all, the corrected ones by {after:.0f}. "
        "A plan for what the audit does not support would make images that nobody lacks.\n"
    )


def measured_table(found: AnnotateDemo) -> pd.DataFrame:
    """AUC, precision and recall of each concept."""
    scores = found.measured.scores
    names = {"AUC": "auc", "precision": "precision", "recall": "recall"}
    shown = {title: scores[name].map("{:.2f}".format) for title, name in names.items()}
    return pd.DataFrame({"concept": scores["concept"], **shown})


def labelled_table(found: AnnotateDemo) -> pd.DataFrame:
    """The most telling imbalances of the labels, as mined."""
    rows = found.believed
    return pd.DataFrame(
        {
            "concept": [" + ".join(names) for names in rows["concepts"]],
            "more in": rows["over_represented"],
            "odds ratio": np.exp(rows["log_odds_ratio"].abs()).map("{:.1f}".format),
            "q-value": rows["q_value"].map("{:.1g}".format),
        }
    )


def corrected_table(found: AnnotateDemo) -> pd.DataFrame:
    """Gaps as labelled, as corrected, and in truth."""
    rows = found.corrected.sort_values("gap", ascending=False)
    return pd.DataFrame(
        {
            "concept": rows["concept"],
            "more in": rows["over_represented"],
            "labelled gap": rows["gap"].map("{:+.0f}".format),
            "corrected gap": [
                f"{value:+.0f} [{low:+.0f}, {high:+.0f}]"
                for value, low, high in rows[
                    ["corrected_gap", "corrected_gap_low", "corrected_gap_high"]
                ].itertuples(index=False)
            ],
            "true gap": rows["true_gap"].map("{:+d}".format),
            "the audit": [VERDICTS.get(name, name) for name in rows["verdict"]],
        }
    )


def further_commands(found: AnnotateDemo) -> Iterator[tuple[str, str]]:
    """Commands to try next, each with its purpose."""
    run = quote(found.run)
    yield f"cobalance imbalances {NAME}", "imbalances, with what the audit says of them"
    yield f"cobalance annotate runs {run}", "how many images show each concept"
    yield f"cobalance annotate threshold {run} 0.5", "other labels, without a model"
    yield f"cobalance annotate reject {run}", "the dataset as it was before"
