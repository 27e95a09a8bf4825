"""Heat map of classes and concepts: where a class shows a concept more often than by chance."""

from collections.abc import Sequence
from itertools import pairwise

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from cobalance.app.web.components import details, imbalance_filters
from cobalance.app.web.state import CurrentDataset, url
from cobalance.app.web.widgets import (
    FIT_WIDTH,
    distinct_labels,
    draw_table,
    escape,
    names_axis,
    text_column,
)
from cobalance.base import FloatArray
from cobalance.graph import Contrasts, read_contrasts

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


def cells_of(contrasts: Contrasts, classes: Sequence[str], concepts: Sequence[str]) -> pd.DataFrame:
    """The drawn cells, concept after concept.

    Returns
    -------
    pandas.DataFrame
        ``row`` and ``column`` (int), ``concept`` and ``class``, ``residual``, ``images``,
        ``expected`` (images if class and concept were independent), ``step``: what its colour
        stands for, and ``ink``: the colour of its number.
    """
    rows = list(map(contrasts.concepts.index, concepts))
    columns = list(map(list(contrasts.class_sizes).index, classes))
    drawn = np.ix_(rows, columns)

    # If class and concept were independent, each class would have its share of the images.
    sizes = np.array([*contrasts.class_sizes.values()])
    of_concept = contrasts.counts[rows].sum(axis=1)[:, None]
    expected = of_concept * sizes[columns] / max(sizes.sum(), 1)

    residuals = contrasts.residuals[drawn].ravel()
    steps = step_codes(residuals)
    # The two darkest colours are those of the ends.
    is_dark = (steps == 0) | (steps == len(STEPS))
    labels = np.array(step_labels(), dtype=object)
    n_rows, n_columns = len(rows), len(columns)
    return pd.DataFrame(
        {
            "row": np.repeat(np.arange(n_rows), n_columns),
            "column": np.tile(np.arange(n_columns), n_rows),
            "concept": np.repeat(np.array(concepts, dtype=object), n_columns),
            "class": np.tile(np.array(classes, dtype=object), n_rows),
            "residual": residuals,
            "images": contrasts.counts[drawn].ravel(),
            "expected": expected.ravel(),
            "step": labels[steps],
            "ink": np.where(is_dark, _LIGHT_INK, _DARK_INK),
        }
    )


def step_codes(residuals: FloatArray) -> np.ndarray:
    """Positions of the colours of residuals in `COLORS`; a residual of 0 has the middle one.

    Examples
    --------
    >>> step_codes(np.array([-10.0, -9.9, -2.0, 0.0, 1.9, 2.0, 50.0])).tolist()
    [0, 1, 2, 3, 3, 4, 6]
    """
    # The steps are symmetric: a residual is placed by its size, and then on its side.
    positive_steps = STEPS[len(STEPS) // 2 :]
    distances = np.searchsorted(positive_steps, np.abs(residuals), side="right")
    return len(STEPS) // 2 + (np.sign(residuals) * distances).astype(np.int64)


def draw(current: CurrentDataset) -> None:
    """Draw the heat map and its table: a cell filters by its concept, and shows its images."""
    contrasts = current.read(read_contrasts)
    concepts = list(contrasts.concepts[:MOST_CONCEPTS])
    if not concepts:
        st.caption("The images show no concepts.")
        return

    classes = _classes_to_draw(contrasts)
    cells = cells_of(contrasts, classes, concepts)
    chart = f"_heat_map {details.times_closed()}"
    st.altair_chart(
        _chart(cells, classes, concepts),
        width="stretch",
        key=chart,
        on_select=lambda: _choose_in_chart(chart, concepts, classes),
        selection_mode=_CELL,
        alt="Residuals of classes and concepts, which the table below has as numbers",
    )

    split = current.mining.split
    of_split = "" if split is None else f"Of split {split!r} alone. "
    explanation = _explain(
        len(contrasts.concepts), len(concepts), len(contrasts.class_sizes), len(classes)
    )
    st.caption(escape(of_split) + explanation)
    with st.expander("As a table"):
        _draw_table(cells, classes, concepts)


def _draw_table(cells: pd.DataFrame, classes: list[str], concepts: list[str]) -> None:
    """Draw the residuals as numbers, a row a concept."""
    numbers = cells["residual"].to_numpy().reshape(-1, len(classes))
    # Numbered, as a class may be called "concept".
    names = {f"class {i}": name for i, name in enumerate(classes)}
    table = pd.DataFrame(numbers, columns=list(names))
    table.insert(0, "concept", concepts)

    columns = {
        column: st.column_config.NumberColumn(name, format="%+.1f", width=80)
        for column, name in names.items()
    }
    key = f"_heat_table {details.times_closed()}"
    draw_table(
        table,
        320,
        {"concept": text_column("Concept", width=140), **columns},
        key=key,
        on_select=lambda: _choose_in_table(key, concepts, classes),
        selection_mode="single-cell",
        alt="Residuals of classes and concepts",
    )


def _classes_to_draw(contrasts: Contrasts) -> list[str]:
    """Classes to draw, in their order: all, or the ones with the strongest lean."""
    furthest = np.abs(contrasts.residuals[:MOST_CONCEPTS]).max(axis=0, initial=0)
    strength = dict(zip(contrasts.class_sizes, furthest.tolist(), strict=True))
    with_images = [name for name, images in contrasts.class_sizes.items() if images]
    strongest = sorted(with_images, key=lambda name: -strength[name])[:MOST_CLASSES]
    return [name for name in with_images if name in strongest]


def _chart(cells: pd.DataFrame, classes: list[str], concepts: list[str]) -> alt.LayerChart:
    """Squares in the colours of their residuals, with numbers where there are few classes."""
    rows = distinct_labels(concepts, _LABEL)
    columns = distinct_labels(classes, _LABEL)
    cells = cells.assign(
        y=[rows[i] for i in cells["row"]],
        x=[columns[i] for i in cells["column"]],
    )

    # Level names of many classes would overlap.
    is_numbered = len(classes) <= NUMBERED
    angle = 0 if is_numbered else -60
    base = alt.Chart(cells).encode(
        x=alt.X(
            "x:N",
            sort=columns,
            title=None,
            axis=names_axis(110, orient="top", labelAngle=angle, ticks=False),
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

    chosen = alt.selection_point(name=_CELL, fields=["row", "column"], toggle=False)
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

    if is_numbered:
        text = alt.Text("residual:Q", format="+.1f")
        numbers = base.mark_text(fontSize=11, cursor="pointer")
        layers.append(numbers.encode(text=text, color=alt.Color("ink:N", scale=None)))
    height_px = _ROW_PX * cells["y"].nunique()
    return alt.LayerChart(layer=layers, height=height_px, autosize=FIT_WIDTH)


def _explain(n_concepts: int, shown: int, n_classes: int, classes: int) -> str:
    """Explain the residuals, and say how many concepts and classes are not drawn."""
    text = (
        "Standardised residuals: by how many standard errors a class shows a concept more often "
        "(red) or less often (blue) than if the two were independent. Within ±2 is what chance "
        "alone gives in 19 of 20 cells; from ±10 on the colour stays the same. "
    )

    more = n_concepts - shown
    if more:
        text += f"The {shown} concepts with the largest residual; {more:,} more lean less. "
    if n_classes > classes:
        text += f"The {classes} classes with the largest; {n_classes - classes:,} more lean less. "

    return text + "Click a cell for its images, and to filter the table."


def _choose_in_chart(chart: str, concepts: Sequence[str], classes: Sequence[str]) -> None:
    cells = st.session_state[chart].selection.get(_CELL)
    if not cells:
        _choose(None, None)
        return
    _choose(concepts[cells[0]["row"]], classes[cells[0]["column"]])


def _choose_in_table(table: str, concepts: Sequence[str], classes: Sequence[str]) -> None:
    # Who tabs into the table selects its first cell, a concept, without choosing it.
    for row, column in st.session_state[table].selection.cells:
        if column != "concept":
            _choose(concepts[row], classes[int(column.removeprefix("class "))])
            return


def _choose(concept: str | None, class_name: str | None) -> None:
    """Filter by a concept, and show its images of a class; None shows all again."""
    clique = None if concept is None else (concept,)
    st.session_state[imbalance_filters.CONCEPTS] = list(clique or ())
    url.show_images(clique, class_name)
