"""Draw audits of what labelling runs found."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from annotation.auditing.sample import PER_STRATUM, assign_people, draw_labels
from annotation.labelling.labels import present
from annotation.labelling.score_files import ScoreFiles
from annotation.labelling.settings import LabelSettings
from app.services.studies.people import people_named
from generation.output.folder import OutputFolder
from graph.annotations.runs import AnnotationRun, read_run
from graph.arrays import BoolArray, IntArray
from graph.audits.reading import COUNTS, Audit, read_audit
from graph.audits.writing import create_audit
from graph.database.store import GraphStore
from graph.dataset.read import read_annotations
from graph.errors import OptionError, check_known


@dataclass(frozen=True)
class AuditSample:
    """How an audit is drawn.

    Parameters
    ----------
    people : tuple of str
        Who checks; addresses, where people log in.
    n : int
        Images of each concept, class and verdict; all where there are fewer.
    overlap : int or None
        How many people check each label; None for all of them.
    seed : int
        Of the draw.
    concepts : tuple of str
        Whose labels are checked; all of the run where it is empty.
    """

    people: tuple[str, ...]
    n: int = PER_STRATUM
    overlap: int | None = None
    seed: int = 0
    concepts: tuple[str, ...] = ()


def draw_audit(
    store: GraphStore, folder: OutputFolder, run: str, sample: AuditSample, created_by: str = ""
) -> Audit:
    """Create an audit of a run's labels, with a blind sample for each person.

    Parameters
    ----------
    created_by : str
        Who creates it; empty without a login.

    Raises
    ------
    JobNotFoundError
        There is no such run.
    OptionError
        It is not done or labels nothing, a name of a person is missing, twice or none, or the
        overlap is not one of these people.
    UnknownNameError
        It does not look for a concept.
    OutputMissingError
        Its scores are gone.
    """
    found = read_run(store, run)
    people = people_named(sample.people)
    overlap = len(people) if sample.overlap is None else sample.overlap
    labels = _Labels(store, folder, found)
    check_known("concept", sample.concepts, labels.concepts)
    wanted = list(dict.fromkeys(sample.concepts)) or labels.concepts
    columns = [labels.concepts.index(name) for name in wanted]
    labelled = labels.labelled[:, columns]
    rng = np.random.default_rng(sample.seed)
    drawn = draw_labels(labels.class_codes, labelled, sample.n, rng)
    if drawn.empty:
        raise OptionError(
            f"The run {run} has no image of {found.dataset!r} whose labels could be checked."
        )
    assigned = assign_people(drawn["concept"].to_numpy(), len(people), overlap, rng)
    at = drawn["image"].to_numpy()
    audit = create_audit(
        store,
        run,
        people=people,
        labels=pd.DataFrame(
            {
                "image": labels.images["id"].to_numpy(object)[at],
                "uri": labels.images["uri"].to_numpy(object)[at],
                "concept": np.array(wanted, dtype=object)[drawn["concept"]],
                "class_name": labels.images["class_name"].astype(object).to_numpy(object)[at],
                "labelled": drawn["labelled"],
            }
        ),
        tasks=assigned,
        counts=_counts(labels, labelled, wanted),
        settings={"n": sample.n, "overlap": overlap, "seed": sample.seed},
        created_by=created_by,
    )
    return read_audit(store, audit)


class _Labels:
    """Which images of a dataset a run labels with which concepts, by the images' ids.

    Images that the run could not read, and those that are no longer in the dataset, are left out.
    """

    def __init__(self, store: GraphStore, folder: OutputFolder, run: AnnotationRun) -> None:
        if run.kind == "propose":
            raise OptionError(
                f"The run {run.id} proposed attributes. Review these; it labels nothing."
            )
        if run.state not in ("done", "accepted", "rejected"):
            raise OptionError(
                f"The run {run.id} is {run.state}, and can be audited once it is done. "
                f"{run.error}".strip()
            )
        settings = LabelSettings.read(run.settings)
        names = [one.concept for one in settings.attributes]
        self.concepts = list(dict.fromkeys(names))
        ids: list[str] = []
        parts = [np.zeros((0, len(names)), bool)]
        for chunk, scores in ScoreFiles(folder, run.id).read_scores(
            settings.chunks, len(settings.texts)
        ):
            read = np.flatnonzero(~np.isnan(scores.matrix).all(axis=1))
            parts.append(present(scores.matrix, settings)[read])
            ids += [chunk[at] for at in read]
        found = np.concatenate(parts)
        labelled = np.zeros((len(found), len(self.concepts)), bool)
        for column, name in enumerate(names):
            labelled[:, self.concepts.index(name)] |= found[:, column]
        images = read_annotations(store, run.dataset).images
        rows = pd.Index(ids).get_indexer(pd.Index(images["id"]))
        self.images = images[rows >= 0].reset_index(drop=True)
        self.labelled: BoolArray = labelled[rows[rows >= 0]]
        codes = self.images["class_name"].cat.remove_unused_categories()
        self.classes = codes.cat.categories.tolist()
        self.class_codes: IntArray = codes.cat.codes.to_numpy(np.int64)


def _counts(labels: _Labels, labelled: BoolArray, concepts: list[str]) -> pd.DataFrame:
    """Images with and without each label, by class; see `graph.audits.reading.COUNTS`."""
    rows = []
    for code, class_name in enumerate(labels.classes):
        of = labelled[labels.class_codes == code]
        for at, concept in enumerate(concepts):
            n = int(of[:, at].sum())
            rows.append((concept, class_name, n, len(of) - n))
    return pd.DataFrame(rows, columns=list(COUNTS))
