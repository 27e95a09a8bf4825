"""Labels or proposals against ground truth, and generated images against their training set."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from cobalance.annotation.measuring.truth import GroundTruth, read_mapping, read_truth
from cobalance.app.web.annotate.runs import run_title
from cobalance.app.web.state import session
from cobalance.app.web.state.access import accept_uploads, may_edit
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.state.url import id_in_url
from cobalance.app.web.widgets.controls import choose_one, download
from cobalance.app.web.widgets.messages import empty_state, viewer_note
from cobalance.app.web.widgets.tables import count_column, draw_table
from cobalance.app.web.widgets.theme import escape, shorten
from cobalance.base.plurals import inflect
from cobalance.graph.annotations.runs import list_runs
from cobalance.graph.database.store import GraphStore
from cobalance.workflows.cells import to_csv
from cobalance.workflows.label.compare import GeneratorComparison, compare_generator
from cobalance.workflows.label.measure import (
    Measured,
    measure_run,
    measure_vocabulary,
    truth_of_dataset,
)
from cobalance.workflows.label.propose import open_embedder
from cobalance.workflows.load.sources import temporary_files

T = TypeVar("T")
VOCABULARY = "what was proposed"
_RUN, _TRUTH, _KEPT = "measure_run", "measure_truth", "_measured"
_NUMBERS = ("auc", "precision", "recall", "f1")


def show_measure(current: CurrentDataset) -> None:
    """Draw the choices, and the result."""
    names = _label_runs(current.store, current.name)
    datasets = sorted(session.datasets()["dataset"])
    with st.container(border=True):
        left, right = st.columns(2)
        with left:
            measured = [*names, VOCABULARY]
            what: str = st.selectbox(
                "Measure",
                measured,
                format_func=lambda one: names.get(one, "Attributes proposed for this dataset"),
                **id_in_url(_RUN, measured, first=measured[0]),
            )
            truth = choose_one(
                "Ground truth of a dataset",
                datasets,
                _TRUTH,
                "or a file",
                help="Its own concepts, without those that accepted runs have found.",
            )
        with right:
            sent, mapping = _files() if may_edit() else (None, None)
            viewer_note("send files")
    if truth is None and sent is None:
        st.caption("Choose a dataset, or send a file, whose annotations are known to be right.")
        return
    if sent is not None:
        known = _read(sent, read_truth)
    else:
        known = truth_of_dataset(current.store, truth or current.name)
    if what == VOCABULARY:
        _draw_vocabulary(current, known)
    else:
        folder = session.settings().folders().open_output()
        named = None if mapping is None else _read(mapping, read_mapping)
        _draw_run(measure_run(current.store, folder, what, known, named))


def _label_runs(store: GraphStore, dataset: str) -> dict[str, str]:
    """Titles of a dataset's runs that have labelled its images by scores, by id."""
    runs = list_runs(store, dataset)
    return {one.id: run_title(one) for one in runs if one.kind == "label" and one.has_labels}


def _files() -> tuple[Any, Any]:
    """Places for ground truth, and for the names that differ in it."""
    accept_uploads()
    truth = st.file_uploader(
        "Ground truth in a file",
        ["csv", "txt"],
        key="_measure_file",
        help="A table with an image a row, its id or file name first, and a column of 1 and 0 for "
        "each attribute, empty where unknown; or CelebA's list_attr file.",
    )
    mapping = st.file_uploader(
        "Mapping of names that differ",
        ["csv"],
        key="_measure_mapping",
        help="The columns concept, truth, and inverted where opposites are meant.",
    )
    return truth, mapping


def _read(sent: Any, read: Callable[[Path], T]) -> T:
    """Read a file that was sent, once until another one is."""
    kept: dict[str, tuple[str, T]] = st.session_state.setdefault(_KEPT, {})
    known = kept.get(read.__name__)
    if known is None or known[0] != sent.file_id:
        name = Path(sent.name).name
        with temporary_files({name: sent.getvalue()}) as folder:
            known = kept[read.__name__] = (sent.file_id, read(folder / name))
    return known[1]


def _draw_run(found: Measured) -> None:
    with st.container(horizontal=True):
        for name in _NUMBERS:
            mean = found.macro[name]
            st.metric(
                _title(name),
                "none" if pd.isna(mean.value) else f"{mean.value:.3f}",
                help=f"Mean over {inflect(mean.n, 'concepts')}"
                + (f"; {mean.left_out} left out, that have none." if mean.left_out else "."),
            )
    draw_table(
        found.scores,
        480,
        {
            "concept": st.column_config.TextColumn("Concept", width=180),
            "truth": st.column_config.TextColumn("Compared with", width=180),
            **{
                name: st.column_config.NumberColumn(_title(name), format="%.3f", width=90)
                for name in _NUMBERS
            },
            **{
                name: count_column(name.replace("_", " ").capitalize(), 90)
                for name in found.scores.columns
                if name not in ("concept", "truth", *_NUMBERS)
            },
        },
        key="_measured_rows",
        alt="Measures of each concept",
    )
    download("CSV", lambda: to_csv(found.scores), "measured.csv", key="_measured_csv")
    said = []
    if found.unmatched_concepts:
        listed = ", ".join(shorten(one) for one in found.unmatched_concepts[:20])
        said.append(f"There is no ground truth for {escape(listed)}.")
    if found.unmatched_images:
        said.append(f"{inflect(found.unmatched_images, 'images')} of the run are not in it.")
    said += [f"{n:,} rows {escape(why)} are left out." for why, n in found.left_out.items()]
    if said:
        st.caption(" ".join(said))


def _title(name: str) -> str:
    return {"auc": "AUC", "f1": "F1"}.get(name, name.capitalize())


def _draw_vocabulary(current: CurrentDataset, truth: GroundTruth) -> None:
    embed, compared_by = open_embedder()
    attributes = [str(name) for name in truth.shows.columns]
    found = measure_vocabulary(current.store, current.name, attributes, embed=embed)
    with st.container(horizontal=True):
        st.metric("Proposed", f"{found.proposed:,}")
        st.metric("Known", f"{found.known:,}")
        st.metric("Recall", f"{found.recall:.3f}", help="Known ones that a proposed one matches.")
        st.metric(
            "Effective dimension",
            f"{found.dimension:,} ({found.fraction:.0%})",
            help="Principal components that hold 95% of the variance of what was proposed.",
        )
    st.caption(f"Names match above a cosine of 0.8, compared by {escape(compared_by)}.")


_GENERATED, _OF_REAL, _OF_GENERATED = "compare_generated", "compare_real_run", "compare_run"


def show_compare(current: CurrentDataset) -> None:
    """Draw the choice of the generated dataset and of runs, and the table."""
    others = [name for name in sorted(session.datasets()["dataset"]) if name != current.name]
    if not others:
        empty_state(
            "There is only one dataset",
            "Load the images that a generator has made as another one, on the **Datasets** page.",
        )
        return
    with st.container(border=True), st.container(horizontal=True):
        generated = choose_one(
            "Generated dataset",
            others,
            _GENERATED,
            "choose one",
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
    found = compare_generator(
        current.store, folder, current.name, generated, real_run=runs[0], generated_run=runs[1]
    )
    _draw(found, current.name, generated)


def _choose_run(current: CurrentDataset, dataset: str | None, label: str, key: str) -> str | None:
    """The run whose labels are compared; None for the dataset's concepts."""
    names = {} if dataset is None else _label_runs(current.store, dataset)
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
    for note in found.notes:
        st.caption(escape(note))
    download("CSV", lambda: to_csv(found.table), "shift.csv", key="_generator_csv")
