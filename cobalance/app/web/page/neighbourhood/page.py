"""View Around of Diagnose: neighbours of a concept or class, and the shortest link to another."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.browser.concept_graph import concept_graph
from cobalance.app.web.components import (
    graph_colors,
    make_centre,
    model_accuracy,
    rate_column,
)
from cobalance.app.web.page.neighbourhood.choices import (
    Choices,
    apply_toggle,
    choose,
    toggle,
    toggle_later,
)
from cobalance.app.web.page.neighbourhood.rings import MOST_NODES, links_table, picture_of
from cobalance.app.web.state import CurrentDataset, names_of, session, url
from cobalance.app.web.widgets import (
    Page,
    bold,
    count_column,
    download,
    draw_table,
    empty_state,
    minus_signs,
    shorten,
    text_column,
)
from cobalance.base import agree, inflect
from cobalance.graph import (
    CountedDataset,
    GraphStore,
    Link,
    Neighbourhood,
    read_neighbourhood,
    shortest_link,
    to_graphml,
)
from cobalance.graph.database import schema
from cobalance.workflows import Axis, class_colors, concepts_of, node_id, to_csv

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
            "Load annotations that name what is in the images on the **Data** page.",
        )
        return

    apply_toggle()
    choices, axis = choose(current, concepts)
    neighbourhood: Neighbourhood = current.read(
        read_neighbourhood, choices.centre, choices.kind, choices.expanded, choices.most
    )
    link = _link(current, choices)
    if link is not None:
        chain = current.read(read_chain, link.concepts)
        neighbourhood = with_chain(neighbourhood, *chain)

    graph, table = st.columns([6, 5])
    with graph:
        _graph(current, choices, neighbourhood, axis, link)
    with table:
        _table(choices, neighbourhood, axis)
    if not current.is_mined:
        st.caption(
            "The links have no counts by class, because the dataset is not mined: they are grey. "
            "Mine it first, under *Graph*."
        )


PAGE = Page("Around", "neighbourhood", ":material/hub:", page, part_of="diagnose")


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
    neighbourhood: Neighbourhood,
    axis: Axis,
    link: Link | None,
) -> None:
    """Draw the neighbourhood as a graph, with the link in it, and all about its colours."""
    picture = picture_of(neighbourhood, axis, choices.expanded)
    model, judged = model_accuracy.choose(current), None
    if model is not None:
        judged = model_accuracy.accuracy(current, model, graph_colors.cliques_of(picture))
    if judged is not None:
        picture = graph_colors.color_by_accuracy(picture, judged)

    nodes = list(map(node_id, link.concepts)) if link else []
    selection = concept_graph(
        picture,
        key=_GRAPH,
        highlighted=list(pairwise(nodes)),
        selected=url.texts(_NODES),
        height_px=HEIGHT_PX,
        label=f"{choices.centre} and what it occurs with",
    )
    url.write(_NODES, selection.nodes)

    # A double click on a class or on the centre expands nothing.
    expanded = concepts_of([selection.expanded or ""])
    if expanded and expanded != [choices.centre]:
        toggle_later(*expanded)
    _draw_selected(choices, concepts_of(selection.nodes))
    _note_hidden(choices, neighbourhood)

    if judged is not None:
        graph_colors.draw_accuracy_legend(judged)
    left_side, right_side = bold(axis.left_name), bold(axis.right_name)
    if left_side != right_side:
        st.caption(
            f"Colours: more often in images of {left_side} or of {right_side}. Wider and larger: "
            "more images. Double-click a concept to expand or collapse it."
        )


def _note_hidden(choices: Choices, neighbourhood: Neighbourhood) -> None:
    """Note the number of neighbours and nodes that are not drawn."""
    nodes = neighbourhood.nodes
    hidden = nodes[nodes["hidden"] > 0]
    notes = [
        f"{bold(name)}: {count:,} more not shown"
        for name, count in zip(hidden["name"], hidden["hidden"], strict=True)
    ]

    beyond = len(nodes) - MOST_NODES
    if beyond > 0:
        notes.append(f"{beyond:,} of {len(nodes):,} concepts are in the table alone")
    lost = set(choices.expanded) - set(nodes.loc[nodes["expanded"], "name"])
    if lost:
        names = ", ".join(map(bold, sorted(lost)))
        notes.append(f"not next to what is shown: {names}")
    if notes:
        st.caption(" · ".join(notes))


def _draw_selected(choices: Choices, names: list[str]) -> None:
    """Draw buttons for the selected concept, or for the two of an edge."""
    is_around_concept = choices.kind == "concept"
    others = [name for name in names if not is_around_concept or name != choices.centre]
    if not others:
        return

    # One concept beside the centre is shown with it; an edge has two of its own.
    clique = {*names}
    if is_around_concept and len(names) == 1:
        clique.add(choices.centre)
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


def _table(choices: Choices, neighbourhood: Neighbourhood, axis: Axis) -> None:
    """Draw the links as a table, and downloads of them and of the nodes."""
    nodes, edges = neighbourhood.nodes, neighbourhood.edges
    links = links_table(choices.kind, choices.centre, choices.expanded, neighbourhood, axis)
    classes = list(neighbourhood.class_sizes)
    rates = {f"rate {code}": name for code, name in enumerate(classes)}

    # The page names the centre above: without an expanded node all links are from it.
    left_out = set[str]()
    is_of_centre = len(set(links["from"])) == 1
    if is_of_centre:
        left_out.add("from")
    if links["lean"].isna().all():
        left_out.update(("lean", *rates))

    columns = {
        "from": text_column("Concept" if choices.kind == "concept" else "From", width=90),
        "with": text_column("With", width=170 if is_of_centre else 105),
        "images": count_column("Images", width=58),
        "lift": st.column_config.NumberColumn(
            "Lift", format="%.2f", width=50, help="How many times as often as by chance."
        ),
        # Its format is the style's, as none of a column has minus signs.
        "lean": st.column_config.NumberColumn(
            "Lean",
            width=52,
            help="From -1, only in images of the left class, to +1, only in those of the right.",
        ),
    }
    most = links[[*rates]].fillna(0).to_numpy().max(initial=0)
    class_color = class_colors(classes)
    for column, name in rates.items():
        columns[column] = rate_column(name, most, class_color[name])
    draw_table(
        links.style.format(_lean_text, subset=["lean"], na_rep="-"),
        HEIGHT_PX,
        columns,
        column_order=[str(name) for name in links if name not in left_out],
        placeholder="-",
        alt="The links that are drawn, the strongest first",
    )

    with st.container(horizontal=True, vertical_alignment="center"):
        for label, file, content in (
            ("Links as CSV", "links.csv", lambda: to_csv(edges)),
            ("Nodes as CSV", "nodes.csv", lambda: to_csv(nodes)),
            ("GraphML", "neighbourhood.graphml", lambda: to_graphml(nodes, edges)),
        ):
            download(label, content, file, key=f"_near_{file}")


def _lean_text(lean: Any) -> str:
    return minus_signs(f"{lean:+.2f}")


def link_in_words(link: Link) -> str:
    """Describe a link in a sentence of Markdown.

    Examples
    --------
    >>> print(link_in_words(Link(("cow", "road", "sign"), (530, 1))))
    **cow** – **road** – **sign**: 530 images show the first two, and 1 image the last two.
    >>> print(link_in_words(Link(("cow", "road"), (1_530,))))
    **cow** – **road**: 1,530 images show both.
    """
    chain = " – ".join(map(bold, link.concepts))
    counts = [inflect(images, "images") for images in link.images]
    if not counts:
        return chain

    verb = agree(link.images[0], "shows", "show")
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

    # The query gives all edges between these concepts, of which the chain has some.
    pairs = list(map(set, pairwise(concepts)))
    edges = [
        row | {"source_kind": "concept", "source": row["concept_1"], "target": row["concept_2"]}
        for row in counted.ask("edges-between-concepts", concepts=list(concepts), limit=10_000)
        if {row["concept_1"], row["concept_2"]} in pairs
    ]
    return (
        counted.concept_frame(nodes, ["kind", "name", "images", "expanded", "hidden"]),
        counted.pair_frame(edges, ["source_kind", "source", "target", "images"]),
    )


def with_chain(
    neighbourhood: Neighbourhood, nodes: pd.DataFrame, edges: pd.DataFrame
) -> Neighbourhood:
    """Add the missing nodes and edges of a chain to a neighbourhood."""
    all_nodes = pd.concat([neighbourhood.nodes, nodes])
    all_edges = pd.concat([neighbourhood.edges, edges])
    return replace(
        neighbourhood,
        nodes=all_nodes.drop_duplicates(["kind", "name"], ignore_index=True),
        edges=all_edges.drop_duplicates(["source_kind", "source", "target"], ignore_index=True),
    )
