"""How often attributes are in a generated dataset and in its training set."""

import streamlit as st

from cobalance.app.web.annotate.runs import chosen_name
from cobalance.app.web.state import session
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import id_in_url, in_url
from cobalance.app.web.widgets.controls import download
from cobalance.app.web.widgets.messages import empty_state, show_error
from cobalance.app.web.widgets.tables import draw_table
from cobalance.app.web.widgets.theme import escape, shorten
from cobalance.graph.annotations.runs import list_runs
from cobalance.graph.errors import CobalanceError
from cobalance.workflows.cells import to_csv
from cobalance.workflows.label.compare import GeneratorComparison, compare_generator

_GENERATED, _OF_REAL, _OF_GENERATED = "compare_generated", "compare_real_run", "compare_run"


def show(current: CurrentDataset) -> None:
    """Draw the choice of the generated dataset and of runs, and the table."""
    others = [name for name in sorted(session.datasets()["dataset"]) if name != current.name]
    if not others:
        empty_state(
            "There is only one dataset",
            "Load the images that a generator has made as another one, on the **Datasets** page.",
        )
        return
    with st.container(border=True), st.container(horizontal=True):
        generated = st.selectbox(
            "Generated dataset",
            others,
            index=None,
            placeholder="choose one",
            **in_url(_GENERATED, others),
            width=280,
            help="The dataset of the page is its training set.",
        )
        runs = (
            _choose_run(current, current.name, "Labels of this dataset", _OF_REAL),
            _choose_run(current, generated, "Labels of the generated one", _OF_GENERATED),
        )
    if generated is None:
        st.caption("Choose a generated dataset to see what the generator makes more or less often.")
        return
    folder = session.settings().folders().open_output()
    try:
        found = compare_generator(
            current.store,
            folder,
            current.name,
            generated,
            real_run=runs[0],
            generated_run=runs[1],
        )
    except CobalanceError as error:
        show_error(error)
        return
    _draw(found, current.name, generated)


def _choose_run(current: CurrentDataset, dataset: str | None, label: str, key: str) -> str | None:
    """The run whose labels are compared; None for the dataset's concepts."""
    runs = () if dataset is None else list_runs(current.store, dataset)
    names = {
        one.id: chosen_name(one)
        for one in runs
        if one.kind == "label" and one.state in ("done", "accepted", "rejected")
    }
    chosen: str | None = st.selectbox(
        label,
        list(names),
        index=None,
        placeholder="its concepts",
        format_func=lambda one: names.get(one, one),
        **id_in_url(key, names),
        width=280,
        help="Take runs of the same annotator for both.",
    )
    return chosen


def _draw(found: GeneratorComparison, real: str, generated: str) -> None:
    def percent(label: str, form: str = "%.1f") -> object:
        return st.column_config.NumberColumn(label, format=form, width=110)

    draw_table(
        found.table,
        520,
        {
            "category": st.column_config.TextColumn("Category", width=130),
            "attribute": st.column_config.TextColumn("Attribute", width=180),
            "real": percent("Real, %"),
            "generated": percent("Generated, %"),
            "difference": percent("Difference", "%+.1f"),
            "low": percent("95% from", "%+.1f"),
            "high": percent("to", "%+.1f"),
            "n_real": None,
            "n_generated": None,
        },
        key="_generator_rows",
        alt="Attributes of real and of generated images",
    )
    first = found.table.iloc[0]
    st.caption(
        f"Percentages of {first['n_real']:,} images of {escape(shorten(real))} and of "
        f"{first['n_generated']:,} of {escape(shorten(generated))}. The difference is in "
        "percentage points: below 0 the generator makes more of it."
    )
    if found.left_out:
        listed = ", ".join(shorten(one) for one in found.left_out[:20])
        st.caption(f"Looked for in one alone, left out: {escape(listed)}.")
    for note in found.notes:
        st.caption(escape(note))
    download("CSV", lambda: to_csv(found.table), "shift.csv", key="_generator_csv")
