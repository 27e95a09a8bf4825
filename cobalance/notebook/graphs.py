"""The concept graph: how many images show two concepts, or a class and a concept."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from cobalance.base import needs_extra
from cobalance.counting import Incidence
from cobalance.counting.cooccurrence import cooccurrence
from cobalance.notebook.data import Data, concept_counts
from cobalance.notebook.diagnosis import Imbalances
from cobalance.notebook.display import Result
from cobalance.notebook.remedies import speaks_python
from cobalance.statistics import SEED
from cobalance.statistics.centrality import centrality
from cobalance.workflows import (
    LEAN,
    GraphTables,
    class_counts,
    graph_tables,
    networkx_graph,
    save_graph,
)

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False, repr=False)
class ConceptGraph(Result):
    """Concepts with the images that two of them share, counted by class.

    Parameters
    ----------
    nodes : pandas.DataFrame
        A row a concept: ``concept``, ``images``, ``count_<class>``; `with_lean` and
        `with_centrality` add columns.
    edges : pandas.DataFrame
        A row for two concepts that share an image: ``concept_1``, ``concept_2``, ``images``; the
        most images first. `with_lean` adds columns.
    class_sizes : dict of str to int
        Images of each class.
    incidence : Incidence
        The images that were counted.
    name : str
        Of the dataset.
    """

    nodes: pd.DataFrame
    edges: pd.DataFrame
    class_sizes: dict[str, int]
    incidence: Incidence
    name: str = ""
    bars = ("images",)

    @classmethod
    def of(cls, incidence: Incidence, name: str = "") -> "ConceptGraph":
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

        return cls(
            nodes=concept_counts(incidence),
            edges=edges.sort_values("images", ascending=False, kind="stable", ignore_index=True),
            class_sizes=dict(zip(incidence.classes, incidence.class_sizes().tolist(), strict=True)),
            incidence=incidence,
            name=name,
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
        return networkx_graph(self._tables() if classes else GraphTables(self.nodes, self.edges))

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

    def with_lean(self) -> "ConceptGraph":
        """Add columns on the lean of concepts and pairs to a class, and pairs' ``count_<class>``.

        ``gap``, ``over_represented``, ``under_represented``, ``lift``, ``effect``,
        ``highest_rate``, ``lowest_rate`` and ``log_odds_ratio`` are those of `Imbalances.frame`.
        """
        tables = graph_tables(self.incidence)
        edges = tables.pairs.sort_values("images", ascending=False, kind="stable")
        nodes = self.nodes.drop(columns=LEAN, errors="ignore").join(tables.concepts[LEAN])
        return replace(self, nodes=nodes, edges=edges.reset_index(drop=True))

    def with_centrality(self, *, seed: int = SEED) -> "ConceptGraph":
        """Add columns of `nodes` on the centrality and communities of concepts.

        ``degree``, ``strength``, ``betweenness``, ``pagerank`` and ``community`` (Leiden, by the
        images that concepts share); see `cobalance.statistics.centrality`. `seed` is of the
        communities.
        """
        counted = cooccurrence(self.incidence)
        columns = centrality(counted.concept_pairs, counted.pair_images, len(self.nodes), seed=seed)
        nodes = self.nodes.drop(columns=list(columns.columns), errors="ignore")
        return replace(self, nodes=nodes.join(columns))

    def save(
        self,
        file: str | Path,
        *,
        format: str | None = None,  # noqa: A002
        cliques: Imbalances | None = None,
        overwrite: bool = False,
    ) -> str | None:
        """Write the graph for other tools: concepts, classes, counts of each class, and lean.

        `with_centrality` before it adds those columns.

        Parameters
        ----------
        file : str or Path
            The file to write, or the folder, for ``neo4j``.
        format : str, optional
            ``graphml``, ``gexf``, ``json`` (node-link) or ``neo4j`` (CSV for
            ``neo4j-admin database import``); by default what the file's suffix says.
        cliques : Imbalances, optional
            Mined cliques to write as nodes.
        overwrite : bool
            Replace a folder whatever is in it, not only if it is an unchanged one of the same.

        Returns
        -------
        str or None
            The command that imports a folder into Neo4j.

        Raises
        ------
        MissingExtraError, OptionError
            networkx is not installed (``neo4j`` needs none), or the format is unknown.
        DataError
            A name cannot be written in the format.
        CobalanceError
            The file cannot be written, or the folder holds something else.
        """
        tables = self.with_lean()._tables(cliques)
        return save_graph(tables, Path(file), format, dataset=self.name, overwrite=overwrite)

    def _tables(self, cliques: Imbalances | None = None) -> GraphTables:
        """All of the graph with its classes."""
        return GraphTables(
            concepts=self.nodes,
            pairs=self.edges,
            class_sizes=self.class_sizes,
            class_counts=class_counts(self.incidence),
            cliques=None if cliques is None else cliques.chosen,
        )

    def title(self) -> str:
        """Number of concepts and edges."""
        return f"Concept graph: {len(self.nodes):,} concepts, {len(self.edges):,} edges"


@speaks_python
def concept_graph(data: Data, *, split: str | None = None) -> ConceptGraph:
    """Count the concept graph of a dataset, or of one split of it.

    Examples
    --------
    >>> frame = pd.DataFrame({"label": ["a", "b"], "objects": ["cow|road", "cow"]})
    >>> from cobalance.notebook.data import read
    >>> concept_graph(read(frame)).to_networkx()["cow"]["road"]
    {'images': 1}
    """
    return ConceptGraph.of(data.incidence(split), data.source)
