"""Draw audits of the labels of runs."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from cobalance.annotation import PER_STRATUM, LabelSettings, assign_people, draw_labels, present
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.base import (
    BoolArray,
    ConflictError,
    DataError,
    IntArray,
    OptionError,
    check_known,
    positions_of,
)
from cobalance.graph import (
    CLIQUES,
    COUNTS,
    AnnotationRun,
    Audit,
    GraphStore,
    clique_name,
    create_audit,
    read_annotations,
    read_labelling,
    read_panel,
)
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.panel.answers import clean_people


@dataclass(frozen=True)
class AuditSample:
    """How an audit is drawn, see `cobalance.notebook.labels.Labels.audit`.

    Some concepts of a clique are the run's; others may be any of the dataset, as its images have
    them.
    """

    people: tuple[str, ...]
    n: int = PER_STRATUM
    overlap: int | None = None
    seed: int = 0
    concepts: tuple[str, ...] = ()
    cliques: tuple[tuple[str, ...], ...] = ()


def draw_audit(store: GraphStore, folder: OutputFolder, run: str, sample: AuditSample) -> Audit:
    """Create an audit of a run's labels, with a blind sample for each person.

    Raises
    ------
    NotFoundError
        There is no such run.
    OptionError
        It labels nothing, a name of a person is missing, twice or none, the overlap is not one of
        these people, or a clique is none.
    ConflictError, DataError
        It is not done; it has no image whose labels could be checked.
    UnknownNameError
        It does not look for a concept, nor does the dataset have one of a clique.
    OutputMissingError
        Its scores are gone.
    """
    labelling = read_labelling(store, run)
    people = clean_people(sample.people)
    overlap = len(people) if sample.overlap is None else sample.overlap
    labels = _Labels(store, folder, labelling)
    subjects = _subjects(labels, sample, run)
    names = list(subjects)

    labelled = np.column_stack([labels.showing(concepts) for concepts in subjects.values()])
    rng = np.random.default_rng(sample.seed)
    drawn = draw_labels(labels.class_codes, labelled, sample.n, rng)
    if drawn.empty:
        raise DataError(
            f"The run {run} has no image of {labelling.dataset!r} whose labels could be checked."
        )
    tasks = assign_people(drawn["concept"].to_numpy(), len(people), overlap, rng)

    images = labels.images.iloc[drawn["image"]].reset_index(drop=True)
    drawn_labels = images.rename(columns={"id": "image"}).assign(
        concept=np.array(names, dtype=object)[drawn["concept"]],
        labelled=drawn["labelled"].to_numpy(),
    )
    cliques = {name: list(concepts) for name, concepts in subjects.items() if len(concepts) > 1}
    audit = create_audit(
        store,
        run,
        people=people,
        labels=drawn_labels,
        tasks=tasks,
        counts=_counts(labels, labelled, names),
        settings={"n": sample.n, "overlap": overlap, "seed": sample.seed, CLIQUES: cliques},
    )
    return read_panel(store, Audit, audit)


def _subjects(labels: "_Labels", sample: AuditSample, run: str) -> dict[str, tuple[str, ...]]:
    """Concepts of each audited concept or clique, by its name."""
    check_known("concept", sample.concepts, labels.concepts)
    names = sample.concepts
    # Everything that the run labels is audited where nothing is named.
    if not (sample.concepts or sample.cliques):
        names = tuple(labels.concepts)

    subjects: dict[str, tuple[str, ...]] = {name: (name,) for name in names}
    for concepts in sample.cliques:
        clique = tuple(sorted(set(concepts)))
        name = clique_name(clique)
        if len(clique) < 2:
            raise OptionError(f"The clique {name!r} has fewer than two concepts. Name others.")
        check_known("concept", clique, [*labels.concepts, *labels.others])
        if not set(clique) & set(labels.concepts):
            raise OptionError(
                f"The run {run} labels no concept of the clique {name!r}. Name one that it labels: "
                f"{', '.join(labels.concepts)}."
            )
        if subjects.setdefault(name, clique) != clique:
            raise OptionError(f"Two of what is checked are called {name!r}. Audit them apart.")
    return subjects


class _Labels:
    """Which images of a dataset a run labels with which concepts, by the images' ids.

    Images that the run could not read, and those that are no longer in the dataset, are left out.
    """

    def __init__(self, store: GraphStore, folder: OutputFolder, run: AnnotationRun) -> None:
        if not run.has_labels:
            raise ConflictError(
                f"The run {run.id} is {run.state}, and can be audited once it is done. "
                f"{run.error}".strip()
            )
        settings = LabelSettings.read(run.settings)
        self.concepts = list(dict.fromkeys(label.concept for label in settings.attributes))
        self._column = positions_of(self.concepts)
        ids, labelled = self._read_labels(ScoreFiles(folder, run.id), settings)

        annotations = read_annotations(store, run.dataset)
        images = annotations.images
        # Images that could not be read, or are new in the dataset, have no row.
        rows = pd.Index(ids).get_indexer(pd.Index(images["id"]))
        self._is_read = rows >= 0
        self.images = images[self._is_read].reset_index(drop=True)
        self._labelled = labelled[rows[self._is_read]].tocsc()

        self._mentions = annotations.mentions[["image", "concept"]]
        all_concepts = annotations.mentions["concept"].cat.categories
        self.others = [name for name in all_concepts if name not in self._column]
        classes = self.images["class_name"].cat.remove_unused_categories()
        self.classes = classes.cat.categories.tolist()
        self.class_codes: IntArray = classes.cat.codes.to_numpy(np.int64)

    def _read_labels(
        self, files: ScoreFiles, settings: LabelSettings
    ) -> tuple[list[str], sparse.csr_array]:
        """Ids of the images that could be read, and which of the run's concepts each has."""
        n_attributes = len(settings.attributes)
        ids: list[str] = []
        # Sparse, as an image shows few concepts of an open vocabulary.
        parts = [sparse.csr_array((0, n_attributes), dtype=bool)]
        for chunk, scores in files.read_scores(settings.chunks, len(settings.texts)):
            rows = np.flatnonzero(~np.isnan(scores.matrix).all(axis=1))
            parts.append(sparse.csr_array(present(scores.matrix, settings)[rows]))
            ids += [chunk[row] for row in rows]

        # Several attributes may be one concept, which an image then has by any of them.
        columns = [self._column[attribute.concept] for attribute in settings.attributes]
        concept_of = sparse.csr_array(
            (np.ones(n_attributes, bool), (range(n_attributes), columns)),
            shape=(n_attributes, len(self.concepts)),
        )
        return ids, sparse.vstack(parts, format="csr") @ concept_of

    def showing(self, concepts: Collection[str]) -> BoolArray:
        """Which images have all of some concepts: the run's by its labels, others as they are."""
        shows_all = np.ones(len(self.images), bool)
        for name in concepts:
            if name in self._column:
                shows_all &= self._labelled[:, [self._column[name]]].toarray()[:, 0]
            else:
                shows = np.zeros(len(self._is_read), bool)
                shows[self._mentions.loc[self._mentions["concept"] == name, "image"]] = True
                shows_all &= shows[self._is_read]
        return shows_all


def _counts(labels: _Labels, labelled: BoolArray, concepts: list[str]) -> pd.DataFrame:
    """Images with and without each label, by class; see `cobalance.graph.panels.audits.COUNTS`."""
    rows = []
    for code, class_name in enumerate(labels.classes):
        of_class = labelled[labels.class_codes == code]
        for column, concept in enumerate(concepts):
            n = int(of_class[:, column].sum())
            rows.append((concept, class_name, n, len(of_class) - n))
    return pd.DataFrame(rows, columns=list(COUNTS))
