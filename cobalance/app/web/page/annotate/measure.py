"""Labels or proposals against ground truth, and generated images against their training set."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from cobalance.annotation import GroundTruth, read_mapping, read_truth
from cobalance.app.web.page.annotate.runs import run_title
from cobalance.app.web.state import CurrentDataset, accept_uploads, id_in_url, may_edit, session
from cobalance.app.web.widgets import (
    choose_one,
    count_column,
    download,
    draw_table,
    empty_state,
    escape,
    shorten,
    text_column,
    viewer_note,
)
from cobalance.base import inflect
from cobalance.graph import GraphStore, list_runs
from cobalance.workflows import (
    GeneratorComparison,
    Measured,
    compare_generator,
    measure_run,
    measure_vocabulary,
    open_embedder,
    temporary_files,
    to_csv,
    truth_of_dataset,
)

T = TypeVar("T")
VOCABULARY = "what was proposed"
_RUN, _TRUTH, _KEPT = "measure_run", "measure_truth", "_measured"
_NUMBERS = ("auc", "precision", "recall", "f1")


def show_measure(current: CurrentDataset) -> None:
    """Draw the choices, and the result."""
    names = _label_runs(current.store, current.name)
    datasets = sorted(session.datasets()["dataset"])
    measurable = [*names, VOCABULARY]

    with st.container(border=True):
        choices, files = st.columns(2)
        with choices:
            measured: str = st.selectbox(
                "Measure",
                measurable,
                format_func=lambda run: names.get(run, "Attributes proposed for this dataset"),
                **id_in_url(_RUN, measurable, first=measurable[0]),
            )
            truth_dataset = choose_one(
                "Ground truth of a dataset",
                datasets,
                _TRUTH,
                "or a file",
                help="Its own concepts, without those that accepted runs have found.",
            )
        truth_file, mapping_file = None, None
        with files:
            if may_edit():
                truth_file, mapping_file = _files()
            viewer_note("send files")

    # A file goes before a dataset, which a link may have chosen.
    if truth_file is not None:
        truth = _read(truth_file, read_truth)
    elif truth_dataset is not None:
        truth = truth_of_dataset(current.store, truth_dataset)
    else:
        st.caption("Choose a dataset, or send a file, whose annotations are known to be right.")
        return

    if measured == VOCABULARY:
        _draw_vocabulary(current, truth)
        return
    folder = session.settings().folders().open_output()
    mapping = None if mapping_file is None else _read(mapping_file, read_mapping)
    _draw_run(measure_run(current.store, folder, measured, truth, mapping))


def _label_runs(store: GraphStore, dataset: str) -> dict[str, str]:
    """Titles of a dataset's runs that have labelled its images by scores, by id."""
    runs = list_runs(store, dataset)
    return {run.id: run_title(run) for run in runs if run.kind == "label" and run.has_labels}


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


def _read(uploaded: Any, read: Callable[[Path], T]) -> T:
    """Read a file that was sent, once until another one is."""
    cache: dict[str, tuple[str, T]] = st.session_state.setdefault(_KEPT, {})
    file_id, content = cache.get(read.__name__, (None, None))
    if content is not None and file_id == uploaded.file_id:
        return content

    # A sent name may be a path; only its last part is a name in our folder.
    name = Path(uploaded.name).name
    with temporary_files({name: uploaded.getvalue()}) as folder:
        content = read(folder / name)
    cache[read.__name__] = (uploaded.file_id, content)
    return content


def _draw_run(measured: Measured) -> None:
    """Draw a run's means, its measures of each concept, and the concepts and images left out."""
    with st.container(horizontal=True):
        for name in _NUMBERS:
            mean = measured.macro[name]
            left_out = f"; {mean.left_out} left out, that have none." if mean.left_out else "."
            st.metric(
                _title(name),
                "none" if pd.isna(mean.value) else f"{mean.value:.3f}",
                help=f"Mean over {inflect(mean.n, 'concepts')}{left_out}",
            )

    columns = {
        "concept": text_column("Concept", width=180),
        "truth": text_column("Compared with", width=180),
    }
    for name in _NUMBERS:
        columns[name] = st.column_config.NumberColumn(_title(name), format="%.3f", width=90)
    for name in measured.scores.columns.difference([*columns], sort=False):
        columns[name] = count_column(name.replace("_", " ").capitalize(), 90)
    draw_table(measured.scores, 480, columns, key="_measured_rows", alt="Measures of each concept")
    download("CSV", lambda: to_csv(measured.scores), "measured.csv", key="_measured_csv")

    notes = []
    if measured.unmatched_concepts:
        listed = ", ".join(map(shorten, measured.unmatched_concepts[:20]))
        notes.append(f"There is no ground truth for {escape(listed)}.")
    if measured.unmatched_images:
        notes.append(f"{inflect(measured.unmatched_images, 'images')} of the run are not in it.")
    for reason, n_rows in measured.left_out.items():
        notes.append(f"{n_rows:,} rows {escape(reason)} are left out.")
    if notes:
        st.caption(" ".join(notes))


def _title(name: str) -> str:
    return {"auc": "AUC", "f1": "F1"}.get(name, name.capitalize())


def _draw_vocabulary(current: CurrentDataset, truth: GroundTruth) -> None:
    embed, compared_by = open_embedder()
    attributes = list(map(str, truth.shows.columns))
    measured = measure_vocabulary(current.store, current.name, attributes, embed=embed)

    with st.container(horizontal=True):
        st.metric("Proposed", f"{measured.proposed:,}")
        st.metric("Known", f"{measured.known:,}")
        st.metric(
            "Recall", f"{measured.recall:.3f}", help="Known ones that a proposed one matches."
        )
        st.metric(
            "Effective dimension",
            f"{measured.dimension:,} ({measured.fraction:.0%})",
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
            "Load the images that a generator has made as another one, on the **Data** page.",
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
        real_run = _choose_run(current, current.name, "Labels of this dataset", _OF_REAL)
        generated_run = _choose_run(
            current, generated, "Labels of the generated one", _OF_GENERATED
        )
    if generated is None:
        st.caption("Choose a generated dataset to see what the generator makes more or less often.")
        return

    comparison = compare_generator(
        current.store,
        session.settings().folders().open_output(),
        current.name,
        generated,
        real_run=real_run,
        generated_run=generated_run,
    )
    _draw(comparison, current.name, generated)


def _choose_run(current: CurrentDataset, dataset: str | None, label: str, key: str) -> str | None:
    """The run whose labels are compared; None for the dataset's concepts."""
    names = {} if dataset is None else _label_runs(current.store, dataset)
    return st.selectbox(
        label,
        list(names),
        index=None,
        placeholder="its concepts",
        format_func=lambda run: names.get(run, run),
        **id_in_url(key, names),
        width=280,
        help="Take runs of the same annotator for both.",
    )


def _draw(comparison: GeneratorComparison, real: str, generated: str) -> None:
    """Draw the rates of attributes in real and in generated images, and their differences."""

    def percent(label: str, form: str = "%.1f") -> object:
        return st.column_config.NumberColumn(label, format=form, width=110)

    draw_table(
        comparison.table,
        520,
        {
            "category": text_column("Category", width=130),
            "attribute": text_column("Attribute", width=180),
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

    first = comparison.table.iloc[0]
    st.caption(
        f"Percentages of {first['n_real']:,} images of {escape(shorten(real))} and of "
        f"{first['n_generated']:,} of {escape(shorten(generated))}. The difference is in "
        "percentage points: below 0 the generator makes more of it."
    )
    for note in comparison.notes:
        st.caption(escape(note))
    download("CSV", lambda: to_csv(comparison.table), "shift.csv", key="_generator_csv")
