"""Page Neighbourhood: what a concept or class occurs with, and the shortest link to another."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import pandas as pd
import streamlit as st

from app.concept_graph.component import concept_graph
from app.services.frames import to_csv
from app.views.components import concept_picture
from app.views.components.concept_picture import Axis, concept_id
from app.views.components.downloads import download
from app.views.components.imbalance_table import MAX_BARS
from app.views.components.markdown import bold
from app.views.components.messages import empty_state
from app.views.components.name_choices import names_of, read_names
from app.views.components.theme import NEUTRAL, class_colors, shorten
from app.views.neighbourhood.rings import MOST_NODES, links_table, picture_of
from app.views.state import session
from app.views.state.session import CurrentDataset
from graph.database import schema
from graph.database.store import GraphStore
from graph.queries.concept_counts import CountedDataset
from graph.queries.neighbourhood import (
    Kind,
    Link,
    Neighbourhood,
    read_neighbourhood,
    shortest_link,
    to_graphml,
)

HEIGHT_PX = 540
ROWS_ON_SCREEN = 15
MOST_NEIGHBOURS = 60  # of one node
NEIGHBOURS = 15

_KIND, _CONCEPT, _CLASS = "near_kind", "near_concept", "near_class"
_EXPANDED, _MOST, _TO = "near_expanded", "near_most", "near_to"
_GRAPH, _TOGGLED = "near_graph", "_near_toggled"
_KINDS: dict[str, Kind] = {"Concept": "concept", "Class": "class"}


@dataclass(frozen=True)
class _Choices:
    """The choices of the page: centre, expanded nodes, limit, and the end of a link."""

    kind: Kind
    centre: str
    expanded: tuple[str, ...]
    most: int
    to: str | None


def page() -> None:
    """Draw the page."""
    current = session.current()
    concepts = names_of(current, schema.CONCEPT)
    if not concepts:
        empty_state(
            "No concepts",
            "No image of this dataset has a concept, so there is nothing to occur with anything. "
            "Load annotations that name what is in the images on the **Datasets** page.",
        )
        return
    _take_toggled()
    choices, axis = _choose(current, concepts)
    found: Neighbourhood = current.read(
        read_neighbourhood, choices.centre, choices.kind, choices.expanded, choices.most
    )
    link = _link(current, choices)
    if link is not None:
        found = with_chain(found, *current.read(read_chain, link.concepts))
    left, right = st.columns([6, 5])
    with left:
        _graph(choices, found, axis, link)
    with right:
        _table(choices, found, axis)
    if not current.is_mined:
        st.caption(
            "The links have no counts by class, because the dataset is not mined: they are grey. "
            "Mine it on the **Diagnose** page."
        )


# --- Choices --------------------------------------------------------------------------------------


def _choose(current: CurrentDataset, concepts: list[str]) -> tuple[_Choices, Axis]:
    """Draw the choices, which are in the URL."""
    frequent = current.read(read_names, schema.CONCEPT.label)["concept"].iloc[0]
    with st.container(horizontal=True, vertical_alignment="bottom", key="_near_choices"):
        chosen = st.segmented_control(
            "Around a",
            list(_KINDS),
            default="Concept",
            required=True,
            key=_KIND,
            bind="query-params",
            on_change=_collapse_all,
        )
        kind = _KINDS[chosen]
        if kind == "class":
            centre = st.selectbox(
                "Class",
                list(current.class_sizes),
                key=_CLASS,
                bind="query-params",
                on_change=_collapse_all,
                width=200,
            )
        else:
            centre = st.selectbox(
                "Concept",
                concepts,
                concepts.index(frequent),
                key=_CONCEPT,
                bind="query-params",
                on_change=_collapse_all,
                width=200,
            )
        most = st.number_input(
            "Neighbours",
            1,
            MOST_NEIGHBOURS,
            NEIGHBOURS,
            key=_MOST,
            bind="query-params",
            width=120,
            help="The most that a node brings with it: those with most images.",
        )
        axis = concept_picture.choose_axis(current.class_sizes)
        to = None
        if kind == "concept":
            to = st.selectbox(
                "Shortest link to",
                [name for name in concepts if name != centre],
                index=None,
                key=_TO,
                bind="query-params",
                placeholder="another concept",
                width=200,
            )
        expanded = st.multiselect(
            "Expanded",
            [name for name in concepts if kind == "class" or name != centre],
            key=_EXPANDED,
            bind="query-params",
            width="stretch",
            placeholder="none; double-click a concept",
            help="Concepts whose neighbours are shown, too. Double-click one to expand it, and "
            "again to collapse it.",
        )
    return _Choices(kind, centre, tuple(expanded), most, to), axis


def _collapse_all() -> None:
    st.session_state[_EXPANDED] = []


def _make_centre(name: str) -> None:
    st.session_state[_KIND] = "Concept"
    st.session_state[_CONCEPT] = name
    _collapse_all()


def _toggle(name: str) -> None:
    """Expand a concept, or collapse it if it is expanded."""
    expanded = list(st.session_state.get(_EXPANDED) or ())
    if name in expanded:
        expanded.remove(name)
    else:
        expanded.append(name)
    st.session_state[_EXPANDED] = expanded


def _take_toggled() -> None:
    """Apply the double click of the previous run, before its widget is drawn."""
    name = st.session_state.pop(_TOGGLED, None)
    if name is not None:
        _toggle(name)


def _link(current: CurrentDataset, choices: _Choices) -> Link | None:
    """Find the shortest link to the chosen concept, and describe it."""
    if choices.to is None:
        return None
    link: Link | None = current.read(shortest_link, choices.centre, choices.to)
    if link is None:
        st.info(
            f"No chain of shared images leads from {bold(choices.centre)} to {bold(choices.to)}.",
            icon=":material/link_off:",
        )
        return None
    st.markdown(f":material/route: {link_in_words(link)}")
    return link


def link_in_words(link: Link) -> str:
    """Describe a link in a sentence of Markdown.

    Examples
    --------
    >>> print(link_in_words(Link(("cow", "road", "sign"), (530, 1))))
    **cow** – **road** – **sign**: 530 images show the first two, and 1 image the last two.
    >>> print(link_in_words(Link(("cow", "road"), (1_530,))))
    **cow** – **road**: 1,530 images show both.
    """
    chain = " – ".join(bold(name) for name in link.concepts)
    counts = [f"{images:,} image{'s' if images != 1 else ''}" for images in link.images]
    if not counts:
        return chain
    verb = "show" if link.images[0] != 1 else "shows"
    if len(counts) == 1:
        return f"{chain}: {counts[0]} {verb} both."
    between = "".join(f"{count} the next, " for count in counts[1:-1])
    return f"{chain}: {counts[0]} {verb} the first two, {between}and {counts[-1]} the last two."


def read_chain(
    store: GraphStore, dataset: str, concepts: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the nodes of a chain and the edges along it, as a `Neighbourhood` has them."""
    counted = CountedDataset.of(store, dataset)
    nodes = [
        row | {"kind": "concept", "name": row["concept"], "expanded": False, "hidden": 0}
        for row in counted.ask("concept-counts", concepts=list(concepts))
    ]
    wanted = [{*pair} for pair in pairwise(concepts)]
    edges = [
        row | {"source_kind": "concept", "source": row["concept_1"], "target": row["concept_2"]}
        for row in counted.ask("edges-between-concepts", concepts=list(concepts), limit=10_000)
        if {row["concept_1"], row["concept_2"]} in wanted
    ]
    return (
        counted.concept_frame(nodes, ["kind", "name", "images", "expanded", "hidden"]),
        counted.pair_frame(edges, ["source_kind", "source", "target", "images"]),
    )


def with_chain(found: Neighbourhood, nodes: pd.DataFrame, edges: pd.DataFrame) -> Neighbourhood:
    """Add the missing nodes and edges of a chain to a neighbourhood."""
    return replace(
        found,
        nodes=pd.concat([found.nodes, nodes]).drop_duplicates(["kind", "name"], ignore_index=True),
        edges=pd.concat([found.edges, edges]).drop_duplicates(
            ["source_kind", "source", "target"], ignore_index=True
        ),
    )


# --- The picture ----------------------------------------------------------------------------------


def _graph(choices: _Choices, found: Neighbourhood, axis: Axis, link: Link | None) -> None:
    drawn = picture_of(found, axis)
    path = [[concept_id(name) for name in pair] for pair in pairwise(link.concepts)] if link else []
    selection = concept_graph(
        drawn,
        key=_GRAPH,
        highlighted=path,
        height_px=HEIGHT_PX,
        label=f"{choices.centre} and what it occurs with",
    )
    name = _concept_of(selection.expanded)
    if name is not None and name != choices.centre:
        st.session_state[_TOGGLED] = name
        st.rerun()
    _selected(choices, [name for name in map(_concept_of, selection.nodes) if name is not None])
    _hidden(choices, found)
    left, right = (bold(side) for side in (axis.left_name, axis.right_name))
    if left != right:
        st.caption(
            f"To the left: more often in images of {left}; to the right: of {right}. Wider "
            "and larger: more images. Double-click a concept to expand or collapse it."
        )


def _concept_of(node: str | None) -> str | None:
    return next(iter(concept_picture.concepts_of([node])), None) if node is not None else None


def _hidden(choices: _Choices, found: Neighbourhood) -> None:
    """Note what is not shown: neighbours beyond the limit, and nodes beyond the picture."""
    hidden = found.nodes[found.nodes["hidden"] > 0]
    notes = [
        f"{bold(name)}: {count:,} more not shown"
        for name, count in zip(hidden["name"], hidden["hidden"], strict=True)
    ]
    beyond = len(found.nodes) - MOST_NODES
    if beyond > 0:
        notes.append(f"{beyond:,} of {len(found.nodes):,} concepts are in the table alone")
    lost = set(choices.expanded) - set(found.nodes.loc[found.nodes["expanded"], "name"])
    if lost:
        names = ", ".join(bold(name) for name in sorted(lost))
        notes.append(f"not next to what is shown: {names}")
    if notes:
        st.caption(" · ".join(notes))


def _selected(choices: _Choices, names: list[str]) -> None:
    """Draw buttons for the selected concept, as an alternative to a double click."""
    if len(names) != 1 or (choices.kind == "concept" and names[0] == choices.centre):
        return
    (name,) = names
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(shorten(name, 60))
        st.button(
            "Collapse" if name in choices.expanded else "Expand",
            key="_near_expand",
            on_click=_toggle,
            args=(name,),
        )
        st.button("Make it the centre", key="_near_centre", on_click=_make_centre, args=(name,))


# --- The same as a table --------------------------------------------------------------------------


def _table(choices: _Choices, found: Neighbourhood, axis: Axis) -> None:
    shown = links_table(choices.kind, choices.centre, choices.expanded, found, axis)
    classes = list(found.class_sizes)
    counts = {f"count {code}": name for code, name in enumerate(classes)}
    most = max(1, int(found.edges["images"].max())) if len(found.edges) else 1
    colors = class_colors(classes)
    config = st.column_config
    counted = bool(shown["lean"].notna().any())
    one = len(set(shown["from"])) == 1  # which the page names above
    left_out = {*(["from"] if one else []), *([] if counted else ["lean", "counts", *counts])}
    wide = 40 if len(classes) > MAX_BARS else 0
    columns = {
        "from": config.TextColumn(
            "Concept" if choices.kind == "concept" else "From", width=90 + wide
        ),
        "with": config.TextColumn("With", width=(195 if one else 105) + wide),
        "images": config.NumberColumn("Images", format="localized", width=58),
        "lift": config.NumberColumn(
            "Lift", format="%.2f", width=50, help="How many times as often as by chance."
        ),
        "lean": config.NumberColumn(
            "Lean",
            format="%+.2f",
            width=52,
            help="From -1, only in images of the left class, to +1, only in those of the right.",
        ),
        "counts": config.BarChartColumn("Counts", y_min=0, width=75, color=NEUTRAL),
    } | {
        key: config.ProgressColumn(
            name, min_value=0, max_value=most, format="localized", width=72, color=colors[name]
        )
        for key, name in counts.items()
    }
    st.dataframe(
        shown,
        hide_index=True,
        height="content" if len(shown) < ROWS_ON_SCREEN else HEIGHT_PX,
        column_order=[str(name) for name in shown if name not in left_out],
        column_config=columns,
        placeholder="-",
        alt="The links that are drawn, the strongest first",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, file, content in (
            ("Links as CSV", "links.csv", lambda: to_csv(found.edges)),
            ("Nodes as CSV", "nodes.csv", lambda: to_csv(found.nodes)),
            ("GraphML", "neighbourhood.graphml", lambda: to_graphml(found.nodes, found.edges)),
        ):
            download(label, content, file, key=f"_near_{file}")
