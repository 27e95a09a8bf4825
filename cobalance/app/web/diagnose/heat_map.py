"""Heat map of classes and concepts: where a class shows a concept more often than by chance."""

from collections.abc import Sequence
from itertools import pairwise

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from cobalance.app.web.components.imbalances import details, filters as imbalance_filters
from cobalance.app.web.state import url
from cobalance.app.web.state.session import CurrentDataset
from cobalance.app.web.widgets.charts import names_axis
from cobalance.app.web.widgets.tables import draw_table
from cobalance.app.web.widgets.theme import distinct_labels, escape
from cobalance.base.arrays import FloatArray
from cobalance.graph.queries.contrasts import Contrasts, read_contrasts

MOST_CONCEPTS, MOST_CLASSES = 30, 40
NUMBERED = 8  # classes whose cells have room for a number
STEPS = (-10, -4, -2, 2, 4, 10)
"""Residuals between which a colour stands: beyond the first and the last all share one."""
COLORS = ("#2166AC", "#67A9CF", "#D1E5F0", "#ECEEF0", "#FDDBC7", "#EF8A62", "#B2182B")
"""ColorBrewer's RdBu, which people of any colour vision tell apart; ends are the least and most."""
_DARK_INK, _LIGHT_INK = "#1A1D21", "#FFFFFF"
_CELL = "cell"
_LABEL, _ROW_PX = 22, 20


def step_labels() -> list[str]:
    """Quantity that the colours show.

    Examples
    --------
    >>> step_labels()
    ['≤ −10', '−10 to −4', '−4 to −2', '−2 to 2', '2 to 4', '4 to 10', '≥ 10']
    """
    names = [f"{step}".replace("-", "−") for step in STEPS]
    between = [f"{low} to {high}" for low, high in pairwise(names)]
    return [f"≤ {names[0]}", *between, f"≥ {names[-1]}"]


def cells_of(found: Contrasts, classes: Sequence[str], concepts: Sequence[str]) -> pd.DataFrame:
    """The drawn cells, concept after concept.

    Returns
    -------
    pandas.DataFrame
        ``row`` and ``column`` (int), ``concept`` and ``class``, ``residual``, ``images``,
        ``expected`` (images if class and concept were independent), ``step``: what its colour
        stands for, and ``ink``: the colour of its number.
    """
    rows = [found.concepts.index(name) for name in concepts]
    columns = [list(found.class_sizes).index(name) for name in classes]
    at = np.ix_(rows, columns)
    sizes = np.array([*found.class_sizes.values()])
    expected = found.counts[rows].sum(axis=1)[:, None] * sizes[columns] / max(sizes.sum(), 1)
    residuals = found.residuals[at].ravel()
    steps = step_codes(residuals)
    labels = np.array(step_labels(), dtype=object)
    n_rows, n_columns = len(rows), len(columns)
    return pd.DataFrame(
        {
            "row": np.repeat(np.arange(n_rows), n_columns),
            "column": np.tile(np.arange(n_columns), n_rows),
            "concept": np.repeat(np.array(concepts, dtype=object), n_columns),
            "class": np.tile(np.array(classes, dtype=object), n_rows),
            "residual": residuals,
            "images": found.counts[at].ravel(),
            "expected": expected.ravel(),
            "step": labels[steps],
            "ink": np.where((steps == 0) | (steps == len(STEPS)), _LIGHT_INK, _DARK_INK),
        }
    )


def step_codes(residuals: FloatArray) -> np.ndarray:
    """Positions of the colours of residuals in `COLORS`; a residual of 0 has the middle one.

    Examples
    --------
    >>> step_codes(np.array([-10.0, -9.9, -2.0, 0.0, 1.9, 2.0, 50.0])).tolist()
    [0, 1, 2, 3, 3, 4, 6]
    """
    sides = np.searchsorted([s for s in STEPS if s > 0], np.abs(residuals), side="right")
    return len(STEPS) // 2 + (np.sign(residuals) * sides).astype(np.int64)


def draw(current: CurrentDataset) -> None:
    """Draw the heat map and its table: a cell filters by its concept, and shows its images."""
    found = current.read(read_contrasts)
    concepts = list(found.concepts[:MOST_CONCEPTS])
    if not concepts:
        st.caption("The images show no concepts.")
        return
    classes = _classes_to_draw(found)
    cells = cells_of(found, classes, concepts)
    chart = f"_heat_map {details.times_closed()}"
    st.altair_chart(
        _chart(cells, classes, concepts),
        width="stretch",
        key=chart,
        on_select=lambda: _choose_in_chart(chart, concepts, classes),
        selection_mode=_CELL,
        alt="Residuals of classes and concepts, which the table below has as numbers",
    )
    of_split = "" if current.mining.split is None else f"Of split {current.mining.split!r} alone. "
    told = _explain(len(found.concepts), len(concepts), len(found.class_sizes), len(classes))
    st.caption(escape(of_split) + told)
    with st.expander("As a table"):
        numbers = cells["residual"].to_numpy().reshape(-1, len(classes))
        table = pd.DataFrame(numbers, columns=[f"class {i}" for i in range(len(classes))])
        table.insert(0, "concept", concepts)
        number = st.column_config.NumberColumn
        table_key = f"_heat_table {details.times_closed()}"
        columns = {
            f"class {i}": number(name, format="%+.1f", width=80) for i, name in enumerate(classes)
        }
        draw_table(
            table,
            320,
            {"concept": st.column_config.TextColumn("Concept", width=140), **columns},
            key=table_key,
            on_select=lambda: _choose_in_table(table_key, concepts, classes),
            selection_mode="single-cell",
            alt="Residuals of classes and concepts",
        )


def _classes_to_draw(found: Contrasts) -> list[str]:
    """Classes to draw, in their order: all, or the ones with the strongest lean."""
    furthest = np.abs(found.residuals[:MOST_CONCEPTS]).max(axis=0, initial=0)
    known = [name for name, images in found.class_sizes.items() if images]
    strength = dict(zip(found.class_sizes, furthest.tolist(), strict=True))
    first = sorted(known, key=lambda name: -strength[name])[:MOST_CLASSES]
    return [name for name in known if name in {*first}]


def _chart(cells: pd.DataFrame, classes: list[str], concepts: list[str]) -> alt.LayerChart:
    rows = distinct_labels(concepts, _LABEL)
    columns = distinct_labels(classes, _LABEL)
    cells = cells.assign(
        y=[rows[i] for i in cells["row"]],
        x=[columns[i] for i in cells["column"]],
    )
    chosen = alt.selection_point(name=_CELL, fields=["row", "column"], toggle=False)
    many = len(classes) > NUMBERED
    base = alt.Chart(cells).encode(
        x=alt.X(
            "x:N",
            sort=columns,
            title=None,
            axis=names_axis(110, orient="top", labelAngle=-60 if many else 0, ticks=False),
        ),
        y=alt.Y("y:N", sort=rows, title=None, axis=names_axis(150, ticks=False)),
        tooltip=[
            alt.Tooltip("concept:N"),
            alt.Tooltip("class:N"),
            alt.Tooltip("images:Q", format=","),
            alt.Tooltip("expected:Q", title="if independent", format=",.1f"),
            alt.Tooltip("residual:Q", format="+.1f"),
        ],
    )
    squares = base.mark_rect(cornerRadius=2, cursor="pointer").encode(
        color=alt.Color(
            "step:N",
            title=None,
            scale=alt.Scale(domain=step_labels(), range=list(COLORS)),
            legend=alt.Legend(orient="top", columns=len(COLORS), symbolType="square"),
        ),
        stroke=alt.condition(chosen, alt.value(_DARK_INK), alt.value(None), empty=False),
        strokeWidth=alt.value(2),
    )
    layers = [squares.add_params(chosen)]
    if not many:
        numbers = base.mark_text(fontSize=11, cursor="pointer")
        layers.append(
            numbers.encode(
                text=alt.Text("residual:Q", format="+.1f"), color=alt.Color("ink:N", scale=None)
            )
        )
    drawn: alt.LayerChart = alt.LayerChart(layer=layers, height=alt.Step(_ROW_PX))
    return drawn


def _explain(n_concepts: int, shown: int, n_classes: int, classes: int) -> str:
    more = n_concepts - shown
    said = (
        "Standardised residuals: by how many standard errors a class shows a concept more often "
        "(red) or less often (blue) than if the two were independent. Within ±2 is what chance "
        "alone gives in 19 of 20 cells; from ±10 on the colour stays the same. "
    )
    if more:
        said += f"The {shown} concepts with the largest residual; {more:,} more lean less. "
    if n_classes > classes:
        said += f"The {classes} classes with the largest; {n_classes - classes:,} more lean less. "
    return said + "Click a cell for its images, and to filter the table."


def _choose_in_chart(chart: str, concepts: Sequence[str], classes: Sequence[str]) -> None:
    cells = st.session_state[chart].selection.get(_CELL) or []
    if not cells:
        _choose(None, None)
        return
    _choose(concepts[cells[0]["row"]], classes[cells[0]["column"]])


def _choose_in_table(table: str, concepts: Sequence[str], classes: Sequence[str]) -> None:
    cells = [one for one in st.session_state[table].selection.cells if one[1] != "concept"]
    if cells:  # not where somebody tabs into the table, which selects its first cell
        row, column = cells[0]
        _choose(concepts[row], classes[int(column.removeprefix("class "))])


def _choose(concept: str | None, class_name: str | None) -> None:
    """Filter by a concept, and show its images of a class; None shows all again."""
    st.session_state[imbalance_filters.CONCEPTS] = [] if concept is None else [concept]
    url.show_images(None if concept is None else (concept,), class_name)
