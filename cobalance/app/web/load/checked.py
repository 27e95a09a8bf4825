"""Results of a check: counts, changes, and images left out."""

from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.widgets.tables import count_column, draw_table
from cobalance.app.web.widgets.theme import escape
from cobalance.app.web.widgets.wording import in_app
from cobalance.ingest.summary import skipped_records
from cobalance.workflows.load.check import CheckedImport


def ask_agreement(found: CheckedImport, key: str) -> bool:
    """Warn of a load that leaves out many images; return whether the person agrees."""
    total, reasons = found.count_left_out()
    if not total:
        return True
    all_images = total + len(found.annotations.images)
    st.warning(
        f"{total:,} of {all_images:,} would be left out: {escape('; '.join(reasons))}.",
        icon=":material/warning:",
    )
    return st.checkbox(f"Load without these {total:,}", key=f"_import_without {key}")


def draw(found: CheckedImport) -> None:
    """Draw counts, changes and omissions of a checked import."""
    annotations, changes = found.annotations, found.changes
    classes, concepts = found.classes, found.concepts
    left, middle, right = st.columns([1.3, 1, 1])
    with left:
        _counts(
            [
                ("Images to load", len(annotations.images)),
                ("of these without a concept", int(classes["without concept"].sum())),
                ("Mentions of concepts", len(annotations.mentions)),
                *((f"Set aside: {why}", count) for why, count in annotations.set_aside.items()),
                ("Malformed records left out", len(annotations.skipped)),
            ],
            ["In the files", "Count"],
            320,
        )
        _counts(
            [
                ("New images", changes.created),
                ("Changed images", changes.updated),
                ("Images as before", changes.unchanged),
                ("Deleted images", changes.deleted),
                ("Other images, which stay", changes.kept),
            ],
            ["In the dataset, after loading", "Count"],
            320,
        )
    with middle:
        _counts(classes.to_numpy(), [f"Classes ({len(classes):,})", "Images", "No concept"], 130)
    with right:
        _counts(concepts.to_numpy(), [f"Concepts ({len(concepts):,})", "Images"], 220)
    for note in annotations.notes:
        st.caption(escape(note))
    if annotations.skipped:
        st.markdown("##### Malformed records left out")
        skipped = skipped_records(annotations, words=in_app)
        st.dataframe(skipped.rename(columns=str.capitalize), hide_index=True, height="auto")
    with st.expander("The first images", icon=":material/table_rows:"):
        st.dataframe(
            found.first.dropna(axis=1, how="all").fillna("").rename(columns=str.capitalize),
            hide_index=True,
            column_config={"Concepts": st.column_config.ListColumn(width="large")},
        )


def _counts(rows: Any, columns: list[str], name_width: int) -> None:
    """Draw a table with a name and numbers in each row, the names of fixed width."""
    frame = pd.DataFrame(rows, columns=columns).convert_dtypes()
    name = st.column_config.TextColumn(width=name_width)
    numbers = dict.fromkeys(columns[1:], count_column(width=90))
    draw_table(frame, 460, {columns[0]: name, **numbers})
