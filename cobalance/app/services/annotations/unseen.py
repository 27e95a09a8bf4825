"""Flag attributes that a labelling run has found in no image."""

from cobalance.annotation.labelling.labels import label_summary
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.annotation.labelling.settings import LabelSettings
from cobalance.annotation.proposing.guards import UNSEEN, unseen
from cobalance.app.services.annotations.labelling import concepts_of
from cobalance.graph.annotations.attributes import list_attributes, write_flags
from cobalance.graph.database.store import GraphStore


def flag_unseen(store: GraphStore, dataset: str, files: ScoreFiles, settings: LabelSettings) -> int:
    """Flag a run's attributes that no image shows, and take the flag from those that one shows.

    GELDA itself proposed "object detection", and found it in 0.0% of its images of cars.

    Returns
    -------
    int
        How many are flagged; none where no image could be read.
    """
    found = label_summary(files, settings)
    found = found[found["share"].notna()]
    images = dict(zip(found["concept"], found["images"], strict=True))
    nowhere = set(unseen(images))
    attributes = list_attributes(store, dataset)
    flags = dict(
        zip(
            zip(attributes["category"], attributes["proposed"], strict=True),
            attributes["flags"],
            strict=True,
        )
    )
    changed = {
        key: (*(one for one in flags[key] if one != UNSEEN), *[UNSEEN] * (concept in nowhere))
        for key, concept in concepts_of(attributes).items()
        if concept in images
    }
    write_flags(store, dataset, changed)
    return sum(UNSEEN in one for one in changed.values())
