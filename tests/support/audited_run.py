"""A labelling run that errs by class, with its scores, without a model or a worker."""

from pathlib import Path

import numpy as np
import pyarrow as pa
from PIL import Image

from cobalance.annotation.annotators.annotator import Scores
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.annotation.labelling.settings import LabelledAttribute, LabelSettings
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.annotations.runs import NewRun, create_run, end_run
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.write import write_annotations
from cobalance.vision.stored.output_folder import OutputFolder

CLASSES = ("gull", "owl")
CONCEPTS = ("o'sky {x}", "sea")

BOX = (2.0, 1.0, 4.0, 5.0)
"""Where the run sees what it labels: x, y, width and height in pixels."""


def shows(image: int, concept: str) -> bool:
    """The truth: half of each class show the sky, and three quarters of gulls alone the sea."""
    at = image // 2
    return at % 2 == 0 if concept == CONCEPTS[0] else image % 2 == 0 and at % 4 > 0


def labelled(image: int, concept: str) -> bool:
    """What the run says: the sky is missed in most owls."""
    if concept == CONCEPTS[0] and image % 2 == 1:
        return shows(image, concept) and image // 2 % 8 == 0
    return shows(image, concept)


def write_audited_run(
    store: GraphStore, dataset: str, folder: OutputFolder, pictures: Path, images: int
) -> str:
    """Write images of gulls and owls in turn, and a run that is done; return its id.

    Image 0 could not be read by the run.
    """
    pictures.mkdir(parents=True, exist_ok=True)
    records = []
    for at in range(images):
        Image.new("RGB", (8, 8), (at, 0, 0)).save(pictures / f"{at}.png")
        records.append(
            ImageRecord(f"{at}", CLASSES[at % 2], (Mention("bird"),), "train", f"{at}.png")
        )
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    attributes = [
        LabelledAttribute(category="", concept=name, caption=f"a photo of {name}")
        for name in CONCEPTS
    ]
    settings = LabelSettings(
        annotator="owlv2",
        level="object",
        attributes=tuple(attributes),
        rule="threshold",
        threshold=0.5,
        images=images,
        chunk_images=-(-images // 2),
    )
    new = NewRun("label", "m", settings.model_dump(mode="json"))
    files = ScoreFiles(folder, new.id)
    ids = [f"{at}" for at in range(images)]
    uris = [f"{at}.png" for at in range(images)]
    files.write_images(pa.table({"id": ids, "uri": uris, "synthetic": [False] * images}))
    matrix = np.array(
        [[0.9 if labelled(at, name) else 0.1 for name in CONCEPTS] for at in range(images)],
        np.float32,
    )
    matrix[0] = np.nan
    boxes = np.full((images, len(CONCEPTS), 4), np.nan, np.float32)
    boxes[matrix > settings.threshold] = BOX
    for chunk in range(settings.chunks):
        part = slice(chunk * settings.chunk_images, (chunk + 1) * settings.chunk_images)
        files.write_scores(chunk, ids[part], Scores(matrix[part], boxes[part]))
    create_run(store, dataset, new)
    end_run(store, new.id)
    return new.id
