"""`cobalance annotate measure` and `compare`: labels against ground truth and each other."""

from pathlib import Path
from typing import Annotated

import typer

from cobalance.annotation.measuring import scores, shift, truth as truths
from cobalance.app.cli.annotate.propose import CompareByOption
from cobalance.app.cli.shared import (
    TableOutput,
    clean_names,
    find_id,
    notes,
    opened_store,
    output_folder,
)
from cobalance.base import OptionError, inflect, needs_extra, pandas as pd, replacing
from cobalance.graph import ANNOTATION_RUN
from cobalance.graph.database import store as stores
from cobalance.graph.dataset import state as states
from cobalance.workflows.label import (
    compare as label_comparison,
    measure as measuring,
    propose as proposing,
)


def measure(
    to: TableOutput,
    which: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN|DATASET]",
            help="A run that labels images; or a dataset, to compare what was proposed for it.",
            callback=clean_names,
        ),
    ] = None,
    truth: Annotated[
        str | None,
        "Ground truth: a dataset, or a file: CelebA's list_attr, CUB's "
        "image_attribute_labels.txt, or a CSV table with a column of 1 and 0 an attribute.",
    ] = None,
    mapping: Annotated[
        Path | None,
        "A CSV file with the columns concept, truth and inverted, for names that differ.",
    ] = None,
    summary: Annotated[bool, "The means over concepts alone."] = False,
    compare_by: CompareByOption = "auto",
    auc_table: Annotated[
        Path | None,
        "Print the means of a published table instead: a CSV file with a row an "
        "attribute, a column of scores a model, and perhaps dataset; a row that is the mean of "
        "several has their number in a column attributes.",
    ] = None,
) -> None:
    """Compare a run's labels with ground truth: AUC, precision, recall and F1 of each concept.

    Of a dataset, compare the attributes proposed for it with those of the ground truth: recall
    (GELDA, equation 1) and effective dimension.
    """
    with needs_extra("Measuring labels", "annotate"):
        import sklearn  # noqa: F401

    if auc_table is not None:
        to.write(scores.read_macro_table(auc_table))
        return
    if which is None or truth is None:
        raise OptionError("Name a run or a dataset, and ground truth with --truth.")

    with opened_store() as (store, _):
        if states.find_dataset(store, truth) is not None:
            ground_truth = measuring.truth_of_dataset(store, truth)
        else:
            ground_truth = truths.read_truth(Path(truth))
        if states.find_dataset(store, which) is not None:
            frame = _measure_vocabulary(store, which, ground_truth, compare_by)
        else:
            names = None if mapping is None else truths.read_mapping(mapping)
            run = find_id(store, which, ANNOTATION_RUN)
            measured = measuring.measure_run(store, output_folder(), run, ground_truth, names)
            frame = _means(measured) if summary else measured.scores
            _print_measured(measured)
    to.write(frame)


def _means(measured: "measuring.Measured") -> "pd.DataFrame":
    rows = [
        {"metric": name, "mean": mean.value, "concepts": mean.n, "left_out": mean.left_out}
        for name, mean in measured.macro.items()
    ]
    return pd.DataFrame(rows)


def _measure_vocabulary(
    store: "stores.GraphStore", dataset: str, truth: "truths.GroundTruth", embed: str
) -> "pd.DataFrame":
    embedder, compared_by = proposing.open_embedder(embed)
    names = [str(name) for name in truth.shows.columns]
    measured = measuring.measure_vocabulary(store, dataset, names, embed=embedder)
    return pd.DataFrame([{**measured.__dict__, "compared_by": compared_by, "beta": scores.BETA}])


def _print_measured(measured: "measuring.Measured") -> None:
    """Print the mean AUC, and how much was left out of the comparison."""
    mean = measured.macro["auc"]
    parts = [f"Mean AUC {mean.value:.3f} over {inflect(mean.n, 'concepts')}"]
    if mean.left_out:
        parts.append(f"{mean.left_out} without both images that show it and others left out")
    if measured.unmatched_concepts:
        parts.append(f"no ground truth for {', '.join(measured.unmatched_concepts)}")
    if measured.unmatched_images:
        parts.append(f"{inflect(measured.unmatched_images, 'images')} not in the ground truth")

    parts += [f"{n:,} rows {reason} left out" for reason, n in measured.left_out.items()]
    notes.print("; ".join(parts) + ".")


def compare(
    to: TableOutput,
    real: Annotated[str, typer.Argument(help="The training set.", callback=clean_names)],
    generated: Annotated[str, typer.Argument(help="The generated dataset.", callback=clean_names)],
    run_real: Annotated[
        str | None, "Compare the labels of this run of the training set, not its concepts."
    ] = None,
    run_generated: Annotated[
        str | None, "The run of the generated dataset, with --run-real."
    ] = None,
    confidence: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="Confidence level of intervals.")
    ] = 0.95,
    chart: Annotated[Path | None, "Write the differences as bars to this SVG file."] = None,
) -> None:
    """Compare how often each attribute is in generated images and in their training set.

    By category, the most frequent of the training set first; a negative difference is an attribute
    that the generator makes more frequent.
    """
    with opened_store() as (store, _):
        # The training set's run first, then the generated dataset's.
        runs = [
            None if run is None else find_id(store, run, ANNOTATION_RUN)
            for run in (run_real, run_generated)
        ]
        comparison = label_comparison.compare_generator(
            store,
            output_folder(),
            real,
            generated,
            real_run=runs[0],
            generated_run=runs[1],
            confidence=confidence,
        )

    for note in comparison.notes:
        notes.print(note)
    if chart is not None:
        drawing = shift.shift_chart(comparison.table, f"{real} less {generated}")
        with replacing(chart) as part:
            part.write_text(drawing, encoding="utf-8")
    to.write(comparison.table)
