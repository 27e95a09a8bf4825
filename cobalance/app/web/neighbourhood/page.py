"""Page Neighbourhood: the neighbours of a concept or class, and the shortest link to another."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pandas as pd
import streamlit as st

from cobalance.app.web.browser.concept_graph import concept_graph
from cobalance.app.web.components.graph import colors
from cobalance.app.web.components.graph.choices import make_centre
from cobalance.app.web.components.imbalances import details, model_accuracy
from cobalance.app.web.components.imbalances.table import rate_column
from cobalance.app.web.neighbourhood.choices import (
    Choices,
    apply_toggle,
    choose,
    toggle,
    toggle_later,
)
from cobalance.app.web.neighbourhood.rings import MOST_NODES, links_table, picture_of
from cobalance.app.web.state import session, url
from cobalance.app.web.state.session import CurrentDataset, names_of
from cobalance.app.web.widgets.controls import download
from cobalance.app.web.widgets.messages import empty_state
from cobalance.app.web.widgets.tables import count_column, draw_table
from cobalance.app.web.widgets.theme import bold, shorten
from cobalance.base.plurals import inflect
from cobalance.graph.database import schema
from cobalance.graph.database.store import GraphStore
from cobalance.graph.queries.concept_counts import CountedDataset
from cobalance.graph.queries.neighbourhood import (
    Link,
    Neighbourhood,
    read_neighbourhood,
    shortest_link,
    to_graphml,
)
from cobalance.workflows.cells import to_csv
from cobalance.workflows.concept_graph.colors import class_colors
from cobalance.workflows.concept_graph.overview import Axis, concepts_of, node_id

HEIGHT_PX = 540

_GRAPH = "near_graph"
_NODES = "near_selected"


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
    apply_toggle()
    choices, axis = choose(current, concepts)
    found: Neighbourhood = current.read(
        read_neighbourhood, choices.centre, choices.kind, choices.expanded, choices.most
    )
    link = _link(current, choices)
    if link is not None:
        found = with_chain(found, *current.read(read_chain, link.concepts))
    left, right = st.columns([6, 5])
    with left:
        _graph(current, choices, found, axis, link)
    with right:
        _table(choices, found, axis)
    details.draw(current)
    if not current.is_mined:
        st.caption(
            "The links have no counts by class, because the dataset is not mined: they are grey. "
            "Mine it on the **Diagnose** page."
        )


def _link(current: CurrentDataset, choices: Choices) -> Link | None:
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


def _graph(
    current: CurrentDataset,
    choices: Choices,
    found: Neighbourhood,
    axis: Axis,
    link: Link | None,
) -> None:
    drawn = picture_of(found, axis, choices.expanded)
    model, judged = model_accuracy.choose(current), None
    if model is not None:
        judged = model_accuracy.accuracy(current, model, colors.cliques_of(drawn))
    if judged is not None:
        drawn = colors.color_by_accuracy(drawn, judged)
    path = [[node_id(name) for name in pair] for pair in pairwise(link.concepts)] if link else []
    selection = concept_graph(
        drawn,
        key=_GRAPH,
        highlighted=path,
        selected=url.texts(_NODES),
        height_px=HEIGHT_PX,
        label=f"{choices.centre} and what it occurs with",
    )
    url.write(_NODES, selection.nodes)
    name = _concept_of(selection.expanded)
    if name is not None and name != choices.centre:
        toggle_later(name)
    _draw_selected(
        choices, [name for name in map(_concept_of, selection.nodes) if name is not None]
    )
    _note_hidden(choices, found)
    if judged is not None:
        colors.draw_accuracy_legend(judged)
    left, right = (bold(side) for side in (axis.left_name, axis.right_name))
    if left != right:
        st.caption(
            f"Colours: more often in images of {left} or of {right}. Wider and larger: more "
            "images. Double-click a concept to expand or collapse it."
        )


def _concept_of(node: str | None) -> str | None:
    return next(iter(concepts_of([node])), None) if node is not None else None


def _note_hidden(choices: Choices, found: Neighbourhood) -> None:
    """Note the number of neighbours and nodes that are not drawn."""
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


def _draw_selected(choices: Choices, names: list[str]) -> None:
    """Draw buttons for the selected concept, or for the two of an edge."""
    of_concept = choices.kind == "concept"
    others = [name for name in names if not of_concept or name != choices.centre]
    if not others:
        return
    clique = {*names, choices.centre} if of_concept and len(names) == 1 else {*names}
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(shorten(" + ".join(others), 60))
        if len(others) == 1:
            (name,) = others
            st.button(
                "Collapse" if name in choices.expanded else "Expand",
                key="_near_expand",
                on_click=toggle,
                args=(name,),
            )
            st.button("Make it the centre", key="_near_centre", on_click=make_centre, args=(name,))
        st.button(
            "Details",
            key="_near_details",
            on_click=url.show_images,
            args=(tuple(sorted(clique)),),
        )


def _table(choices: Choices, found: Neighbourhood, axis: Axis) -> None:
    shown = links_table(choices.kind, choices.centre, choices.expanded, found, axis)
    classes = list(found.class_sizes)
    rates = {f"rate {code}": name for code, name in enumerate(classes)}
    most = shown[[*rates]].fillna(0).to_numpy().max(initial=0)
    colors = class_colors(classes)
    config = st.column_config
    counted = bool(shown["lean"].notna().any())
    one = len(set(shown["from"])) == 1  # which the page names above
    left_out = {*(["from"] if one else []), *([] if counted else ["lean", *rates])}
    columns = {
        "from": config.TextColumn("Concept" if choices.kind == "concept" else "From", width=90),
        "with": config.TextColumn("With", width=170 if one else 105),
        "images": count_column("Images", width=58),
        "lift": config.NumberColumn(
            "Lift", format="%.2f", width=50, help="How many times as often as by chance."
        ),
        "lean": config.NumberColumn(
            "Lean",
            format="%+.2f",
            width=52,
            help="From -1, only in images of the left class, to +1, only in those of the right.",
        ),
    } | {key: rate_column(name, most, colors[name]) for key, name in rates.items()}
    draw_table(
        shown,
        HEIGHT_PX,
        columns,
        column_order=[str(name) for name in shown if name not in left_out],
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
    counts = [inflect(images, "images") for images in link.images]
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
