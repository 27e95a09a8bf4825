"""Vectors and properties of a dataset's images from Python: similar images, near duplicates."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pandas as pd

from cobalance.base import CobalanceError, Progress
from cobalance.graph.database import GraphStore
from cobalance.graph.tasks import read_task
from cobalance.ingest.embeddings import check_vectors, read_embeddings
from cobalance.notebook.jobs import run_in_process
from cobalance.notebook.remedies import SpeaksPython
from cobalance.workflows.embed.compute import order_embeddings
from cobalance.workflows.embed.search import (
    USUAL,
    cluster_duplicates,
    keep_embeddings,
    require_embedded,
)
from cobalance.workflows.properties import (
    compare_classes,
    order_properties,
    read_properties,
    show_properties,
)
from cobalance.workflows.settings import Settings


class Embedded(SpeaksPython):
    """Vectors that a model gave a dataset's images, and properties of their files."""

    graph: GraphStore
    settings: Settings
    name: str
    progress: Progress

    def add_embeddings(
        self, vectors: npt.ArrayLike | str | Path, ids: Sequence[str] | None = None
    ) -> int:
        """Keep the vectors of images, in place of those before; return how many images have one.

        Parameters
        ----------
        vectors : array, shape (n_images, width), or path
            Numbers; or a Parquet, ``.npz`` or CSV file with ids and vectors.
        ids : sequence of str, optional
            Of an array: the images that its rows are of.

        Raises
        ------
        InputError
            The file cannot be read; ids and rows do not match, or values are no finite numbers.
        OptionError
            None of them is an image of the dataset; what was kept before stays.
        """
        if isinstance(vectors, str | Path):
            source = str(vectors)
            names, unit = read_embeddings(Path(vectors))
        else:
            source, names = "the array", list(map(str, ids or ()))
            unit = check_vectors(source, names, vectors)
        return keep_embeddings(self.graph, self.settings.folders(), self.name, source, names, unit)

    def compute_embeddings(self, features: str = USUAL, **options: Any) -> int:
        """Compute the vectors of all images in this process; return how many images have one.

        Parameters
        ----------
        features : str
            What gives an image its vector: a name in
            `cobalance.evaluation.training.features.FEATURES`.
        **options
            Of these features, such as ``model`` for a folder with weights.

        Raises
        ------
        OptionError
            The options are not theirs.
        CobalanceError
            No image has a file, or the vectors cannot be computed.
        MissingExtraError
            A worker, or what the features need, is not installed.
        """
        self._execute(order_embeddings(self.graph, self.name, features, options))
        return len(require_embedded(self.graph, self.settings.folders(), self.name).images)

    def _execute(self, task: str) -> None:
        run_in_process(self.settings, [task], self.progress)
        ended = read_task(self.graph, task)
        if ended.state != "done":
            raise CobalanceError(ended.error or f"The task is {ended.state}.")

    def similar(self, image: str, n: int = 20) -> pd.DataFrame:
        """The `n` images most like one: ``id``, ``class``, ``similarity`` (cosine).

        Raises
        ------
        DataError
            The dataset has no vectors.
        UnknownNameError
            The image has none.
        """
        return require_embedded(self.graph, self.settings.folders(), self.name).similar(image, n)

    def near_duplicates(
        self, similarity: float = 0.97, *, as_clusters: bool = False
    ) -> pd.DataFrame:
        """Groups of images with a cosine of at least `similarity`, across classes first.

        With `as_clusters` each group is a cluster of images that are not independent, and no other
        images are, until the dataset's file is loaded again; mine again to count them.

        Returns
        -------
        pandas.DataFrame
            A row an image: ``group`` (from 1), ``id``, ``class``, ``classes`` (of the group).

        Raises
        ------
        DataError
            The dataset has no vectors.
        """
        embedded = require_embedded(self.graph, self.settings.folders(), self.name)
        groups = embedded.duplicates(similarity, self.progress)
        if as_clusters:
            cluster_duplicates(self.graph, self.name, groups, self.progress)
        return groups

    def properties(
        self, *, measure: bool = False, concepts: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """How far brightness, sharpness, file type and the like tell the classes apart.

        Parameters
        ----------
        measure : bool
            Measure the image files first, in this process.
        concepts : sequence of str, optional
            Have images show these properties as concepts, and no others; mine again to count them.

        Returns
        -------
        pandas.DataFrame
            As `cobalance.workflows.properties.compare_classes` has it.

        Raises
        ------
        UnknownNameError, DataError
            There is no such property; they have not been measured, or no file can be read.
        """
        folders = self.settings.folders()
        if measure:
            self._execute(order_properties(self.graph, self.name))
        if concepts is not None:
            show_properties(self.graph, folders, self.name, concepts, self.progress)
        return compare_classes(read_properties(self.graph, folders, self.name))
