"""The concept graph: how many images show two concepts, or a class and a concept."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from cobalance.data.reading import Data, concept_counts
from cobalance.display import Result
from graph.counting.cooccurrence import cooccurrence
from graph.counting.incidence import Incidence
from graph.diagnosis.imbalance import COUNT
from graph.errors import needs_extra

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False, repr=False)
class ConceptGraph(Result):
    """Concepts with the images that two of them share, counted by class.

    Parameters
    ----------
    nodes : pandas.DataFrame
        A row a concept: ``concept``, ``images``, ``count_<class>``.
    edges : pandas.DataFrame
        A row for two concepts that share an image: ``concept_1``, ``concept_2``, ``images``; the
        most images first.
    class_sizes : dict of str to int
        Images of each class.
    """

    nodes: pd.DataFrame
    edges: pd.DataFrame
    class_sizes: dict[str, int]
    bars = ("images",)

    @classmethod
    def of(cls, incidence: Incidence) -> "ConceptGraph":
        """Count the graph of images (section 3.2 of the ConBias paper)."""
        counted = cooccurrence(incidence)
        concepts = np.array(incidence.concepts, dtype=object)
        edges = pd.DataFrame(
            {
                "concept_1": concepts[counted.concept_pairs[:, 0]],
                "concept_2": concepts[counted.concept_pairs[:, 1]],
                "images": counted.pair_images,
            }
        )
        sizes = dict(zip(incidence.classes, incidence.class_sizes().tolist(), strict=True))
        return cls(
            concept_counts(incidence),
            edges.sort_values("images", ascending=False, kind="stable", ignore_index=True),
            sizes,
        )

    @property
    def frame(self) -> pd.DataFrame:
        """The edges."""
        return self.edges

    def to_networkx(self, *, classes: bool = False) -> "nx.Graph[str]":
        """The graph for networkx: nodes by concept, ``images`` on nodes and edges.

        Parameters
        ----------
        classes : bool
            With a node for each class, named ``class:<class>``, and an edge to every concept that
            it shares images with. ``kind`` says which nodes are which.

        Raises
        ------
        MissingExtraError
            networkx is not installed.
        """
        with needs_extra("A graph for networkx", "graphs"):
            import networkx as nx
        graph: nx.Graph[str] = nx.Graph()
        concepts = self.nodes.set_index("concept").rename(columns=str).to_dict("index")
        graph.add_nodes_from((name, {"kind": "concept", **row}) for name, row in concepts.items())
        pairs = self.edges.itertuples(index=False, name=None)
        graph.add_weighted_edges_from(pairs, weight="images")
        if classes:
            prefix = "class:"
            while self.nodes["concept"].str.startswith(prefix).any():
                prefix += ":"
            for class_name, images in self.class_sizes.items():
                node = prefix + class_name
                graph.add_node(node, kind="class", images=images)
                shared = ((node, name, row[COUNT + class_name]) for name, row in concepts.items())
                graph.add_weighted_edges_from((e for e in shared if e[2]), weight="images")
        return graph

    def to_igraph(self, *, classes: bool = False) -> Any:
        """The graph for igraph: vertices with ``name``, ``images`` on vertices and edges.

        Parameters
        ----------
        classes : bool
            As in `to_networkx`.

        Raises
        ------
        MissingExtraError
            igraph is not installed.
        """
        with needs_extra("A graph for igraph", "graphs"):
            import igraph
        graph = self.to_networkx(classes=classes)
        return igraph.Graph.from_networkx(graph, vertex_attr_hashable="name")

    def title(self) -> str:
        """Number of concepts and edges."""
        return f"Concept graph: {len(self.nodes):,} concepts, {len(self.edges):,} edges"


def concept_graph(data: Data, *, split: str | None = None) -> ConceptGraph:
    """Count the concept graph of a dataset, or of one split of it.

    Examples
    --------
    >>> frame = pd.DataFrame({"label": ["a", "b"], "objects": ["cow|road", "cow"]})
    >>> from cobalance.data.reading import from_frame
    >>> concept_graph(from_frame(frame)).to_networkx()["cow"]["road"]
    {'images': 1}
    """
    return ConceptGraph.of(data.incidence(split))
