"""Scores of models: a table of runs, bars of groups, and the images behind each number."""

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from cobalance.app.web.page.evaluate import examples
from cobalance.app.web.page.evaluate.charts import (
    ALL,
    cells_of,
    draw_bars,
    fitting_width,
    is_share,
    with_unit,
)
from cobalance.app.web.state import CurrentDataset, choice_in_url, in_url
from cobalance.app.web.widgets import (
    choose_named,
    download,
    draw_table,
    empty_state,
    escape,
    index_or_first,
    text_column,
    unless_empty,
)
from cobalance.base import agree, inflect
from cobalance.evaluation import REPORTS, mean_and_sd
from cobalance.graph import Evaluation, bind_named
from cobalance.workflows import (
    HEADLINE,
    change_texts,
    export_bytes,
    name_rows,
    newest,
    scores_frame,
    signed_text,
)

USUAL, WORST = "group_accuracy", "worst_group"
MOST_RUNS = 8
_HEIGHT_PX = 420
_CLICKED = "_evaluate_clicked"
_WHAT_HELPED = "what-helped"  # the saved query


def show(current: CurrentDataset, evaluations: Sequence[Evaluation]) -> None:
    """Draw the scores of the newest evaluations of each run."""
    scored = newest(evaluations)
    if not scored:
        empty_state(
            "No result yet",
            "Train models on this dataset and on what a job made of it, or score a table of "
            "another model's predictions: choose either above, or run `cobalance evaluate train "
            "DATASET` in a terminal.",
            icon=":material/analytics:",
        )
        return

    scored = _choose_test(scored)
    stamps = tuple(
        (evaluation.id, evaluation.scored_at, evaluation.outdated) for evaluation in scored
    )
    scores = current.keep(lambda: scores_frame(current.store, scored), "scores", stamps)
    labels = name_rows(scored, brief=True)
    scores = scores.assign(
        run=scores["evaluation"].map(labels), group=scores["group"].replace("", ALL)
    )
    runs = rank_runs(scores)
    scores = scores.set_index("run").loc[runs].reset_index()
    places = {run: place for place, run in enumerate(runs)}
    scored.sort(key=lambda run: (places.get(labels[run.id], len(runs)), run.seed or 0, run.id))

    if best := describe_best(scores):
        st.header(escape(best), anchor=False)
    _say_outdated(scored)
    _overview(scores)
    of_metric, metric = _choose_metric(current, scored, scores)
    cells, images = st.columns([6, 7], gap="medium")
    with cells:
        clicked = _cells(of_metric, metric)
    if clicked is not None:
        _take_click(scored, labels, clicked)
    with images:
        examples.show(current, scored, labels)
    if not of_metric.empty:
        draw_bars(of_metric, metric)
    _draw_changes(current, scored[0].test, stamps)


def rank_runs(scores: pd.DataFrame) -> list[str]:
    """The runs by their worst group, the best first and runs without such a score last.

    Examples
    --------
    >>> scores = pd.DataFrame({"run": ["a", "b"], "metric": "worst_group", "value": [0.2, 0.5]})
    >>> rank_runs(scores)
    ['b', 'a']
    """
    worst = scores["value"].where(scores["metric"] == WORST)
    means = worst.groupby(scores["run"], sort=False).mean()
    return list(means.sort_values(ascending=False, kind="stable").index)


def describe_best(scores: pd.DataFrame) -> str:
    """Name the run that is best on its worst group, by how much, and on how many images.

    `scores` are in the order of `rank_runs`; without any of worst groups the text is empty.
    """
    worst = mean_and_sd(scores[scores["metric"] == WORST], ("run", "group")).dropna(subset="mean")
    if worst.empty:
        return ""
    best = worst.iloc[0]
    share = f"{best['run']} is right on {best['mean']:.1%} of its worst group"
    images = scores.loc[scores["group"] == ALL, "n"].max()
    tested = f"Tested on {inflect(int(images), 'images')}."
    if len(worst) == 1:
        return f"{share}. {tested}"

    second = worst.iloc[1]
    points = 100 * (best["mean"] - second["mean"])
    return f"{share}, {points:.1f} points above the next best, {second['run']}. {tested}"


def _choose_test(scored: list[Evaluation]) -> list[Evaluation]:
    """Draw the choice of test images, where there are several: scores compare on the same ones."""
    tests = list(dict.fromkeys(evaluation.test for evaluation in scored))
    if len(tests) == 1:
        return scored
    test = choose_named("Test images of", tests, "evaluate_test", width=320)
    return [evaluation for evaluation in scored if evaluation.test == test]


def _say_outdated(scored: Sequence[Evaluation]) -> None:
    n_outdated = sum(evaluation.outdated for evaluation in scored)
    if n_outdated:
        verb = agree(n_outdated, "is", "are")
        st.warning(
            f"{inflect(n_outdated, 'results')} of {len(scored):,} {verb} outdated: images of their "
            "datasets have changed since. Train these models again.",
            icon=":material/history:",
        )


def _overview(scores: pd.DataFrame) -> None:
    """Draw a row for each run with the metrics of all images, means and deviations over seeds."""
    whole = scores[scores["group"] == ALL]
    metrics = [name for name in HEADLINE if name in set(whole["metric"])]
    metrics = metrics or list(dict.fromkeys(whole["metric"]))[:4]
    if not metrics:
        return

    columns = {
        "run": text_column("Model", width=260),
        "seeds": st.column_config.NumberColumn("Seeds", width=60),
        "outdated": st.column_config.CheckboxColumn("Outdated", width=80),
    }
    cells = {}
    for name in metrics:
        cells[name] = cells_of(whole[whole["metric"] == name], name).loc[ALL]
        title = name.replace("_", " ").capitalize()
        columns[name] = text_column(with_unit(title, name), alignment="right")

    # Grouping aligns by name: each row is of a run, in the order of the scores.
    of_run = scores.groupby("run", sort=False)
    rows = pd.DataFrame({**cells, "seeds": of_run["evaluation"].nunique()}).fillna("")
    rows = rows.assign(outdated=of_run["outdated"].any()).loc[scores["run"].unique()]
    rows = rows.rename_axis("run").reset_index()
    if not rows["outdated"].any():
        rows = rows.drop(columns="outdated")
    if (rows["seeds"] == 1).all():
        rows = rows.drop(columns="seeds")
    draw_table(rows, 220, columns, key="_evaluate_overview", alt="Models side by side")


def _choose_metric(
    current: CurrentDataset, scored: Sequence[Evaluation], scores: pd.DataFrame
) -> tuple[pd.DataFrame, str]:
    """Draw the choice of a metric and of models; return their scores of it, and its name."""
    metrics = list(dict.fromkeys(scores["metric"]))
    runs = list(dict.fromkeys(scores["run"]))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        metric = st.selectbox(
            "Metric",
            metrics,
            index=index_or_first(metrics, USUAL),
            format_func=lambda name: name.replace("_", " "),
            **choice_in_url("evaluate_metric", metrics),
            width=260,
        )
        chosen = st.multiselect(
            "Models", runs, **in_url("evaluate_run"), placeholder=f"the first {MOST_RUNS}"
        )
        _exports(current, scored)

    # A link may name models that are no more.
    selected = [run for run in runs if run in chosen] or runs[:MOST_RUNS]
    return scores[(scores["metric"] == metric) & scores["run"].isin(selected)], metric


def _exports(current: CurrentDataset, scored: Sequence[Evaluation]) -> None:
    """Draw a download for each format of reports."""
    title = f"Evaluations of {current.name}"
    with st.popover("Export", icon=":material/download:"):
        for name, report in REPORTS.items():
            content = partial(export_bytes, current.store, scored, name, title)
            file = f"evaluations-{current.name}{report.suffix}"
            download(name.capitalize(), content, file, key=f"_evaluate_{name}")
            st.caption(report.purpose)


def _cells(scores: pd.DataFrame, metric: str) -> tuple[str, str] | None:
    """Draw the metric by group and model; return the run and group of a number that was clicked."""
    if scores.empty:
        st.caption("None of these models has a score of this metric.")
        return None
    cells = cells_of(scores, metric)
    runs = list(map(str, cells))
    images = scores.groupby("group", sort=False)["n"].max().reindex(cells.index)
    rows = pd.DataFrame({"group": cells.index, "images": images.to_numpy()})

    columns = {
        "group": text_column("Group", width=fitting_width(cells.index)),
        "images": st.column_config.NumberColumn("Images", format="localized", width=65),
    }
    # A model may have the name of another column: columns are named by the models' numbers.
    run_of = {f"run {number}": run for number, run in enumerate(runs)}
    for column, run in run_of.items():
        rows[column] = cells[run].to_numpy()
        columns[column] = text_column(run, alignment="right", width=120)

    state = draw_table(
        rows,
        _HEIGHT_PX,
        columns,
        key=f"_evaluate_cells {metric} {hash(tuple(runs))}",
        on_select="rerun",
        selection_mode="single-cell",
        alt="The metric by group and model",
    )
    st.caption("Click a number to see the images behind it.")
    clicked = state.selection.get("cells") or []
    if not clicked:
        return None

    # A click on a group or on its size is about the first model.
    row, column = clicked[0]
    return run_of.get(column, runs[0]), str(cells.index[row])


def _take_click(
    scored: Sequence[Evaluation], labels: dict[str, str], clicked: tuple[str, str]
) -> None:
    """Choose the model and group of a number that was clicked just now, for the images below."""
    if st.session_state.get(_CLICKED) == clicked:
        return
    st.session_state[_CLICKED] = clicked

    # The evaluations are in the order of their seeds: the first one has the run's lowest.
    run, group = clicked
    first = next(evaluation.id for evaluation in scored if labels[evaluation.id] == run)
    st.session_state[examples.MODEL] = first
    st.session_state[examples.GROUP] = None if group == ALL else group


def _draw_changes(current: CurrentDataset, test: str, stamps: Sequence[tuple[object, ...]]) -> None:
    """Draw models before and after each job, of one metric and test dataset; nothing without."""
    query, bound = bind_named(current.store, _WHAT_HELPED, {"dataset": current.name})
    changes = current.keep(
        lambda: current.store.read_frame(query.text, **bound), _WHAT_HELPED, tuple(stamps)
    )
    changes = changes[changes["test"] == test]
    if changes.empty:
        return

    st.header("Before and after", anchor=False)
    whole = changes[changes["group"] == ""]
    metrics = list(dict.fromkeys(whole["metric"])) or list(dict.fromkeys(changes["metric"]))
    metric = st.selectbox(
        "Metric of the change",
        metrics,
        index=index_or_first(metrics, WORST),
        format_func=lambda name: name.replace("_", " "),
        **choice_in_url("evaluate_change", metrics),
        width=260,
    )

    _table_of_changes(changes[changes["metric"] == metric], metric)


def _table_of_changes(rows: pd.DataFrame, metric: str) -> None:
    """Draw a row for each change, with its difference and interval."""
    factor, digits = (100, 1) if is_share(metric) else (1, 3)
    table = rows[["training_set", "job", "planner", "method", "settings", "seeds"]].copy()
    table["images"] = rows["images"].replace("augmented", "")
    table["group"] = rows["group"].replace("", ALL)
    table["change"] = change_texts(rows["before"] * factor, rows["after"] * factor, f".{digits}f")
    table["difference"] = [
        _signed(value, limits, factor, digits)
        for value, limits in zip(rows["difference"], rows["interval"], strict=True)
    ]
    outdated = rows["outdated"].astype(bool)
    if outdated.any():
        table["outdated"] = outdated

    draw_table(
        table,
        360,
        {
            "training_set": text_column("Trained on", width=150),
            "job": text_column("Job", width=90),
            "planner": text_column("Planner", width=80),
            "method": text_column("Method", width=90),
            "settings": text_column("Settings", width=110),
            "seeds": st.column_config.NumberColumn("Seeds", width=50),
            "images": text_column("Images", width=90),
            "group": text_column("Group", width=120),
            "change": text_column("Original → rebalanced", width=150, alignment="right"),
            "difference": text_column("Difference [95%]", width=150, alignment="right"),
        },
        key="_evaluate_changes_table",
        alt="What each job changed",
    )
    st.caption(f"The same as the saved query `{_WHAT_HELPED}` on the page Cypher.")


def _signed(value: float, limits: Sequence[float | None], factor: float, digits: int) -> str:
    """A difference with its interval as text; a dash where it is not known.

    Examples
    --------
    >>> _signed(0.1234, [0.03, 0.2026], 100, 1), _signed(12.34, [None, None], 1, 1)
    ('+12.3 [+3.0, +20.3]', '+12.3')
    """
    if pd.isna(value):
        return "-"
    difference = signed_text(factor * value, f".{digits}f")
    ends = [signed_text(factor * limit, f".{digits}f") for limit in limits if limit is not None]
    return difference + unless_empty(" [{}]", ", ".join(ends))
