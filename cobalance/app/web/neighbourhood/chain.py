"""The shortest link between two concepts, as a sentence and as part of a neighbourhood."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pandas as pd

from cobalance.app.web.widgets.theme import bold
from cobalance.graph.database.store import GraphStore
from cobalance.graph.queries.concept_counts import CountedDataset
from cobalance.graph.queries.neighbourhood import Link, Neighbourhood
from cobalance.graph.wording import inflect


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
