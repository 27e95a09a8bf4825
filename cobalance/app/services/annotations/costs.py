"""What labelling a dataset will take, measured on two batches of its images."""

from collections.abc import Mapping
from typing import Any

from cobalance.annotation.proposing.cost import measure_seconds
from cobalance.app.services.image_files import pixel_reader
from cobalance.app.settings import Settings
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.read import read_annotations
from cobalance.graph.errors import OptionError
from cobalance.graph.progress import Progress, silent
from cobalance.ingest.annotators import ANNOTATORS

LEVELS = 2
"""Each image goes through one model for whole images and one for objects, once, whatever the number
of attributes."""


def label_cost(
    store: GraphStore,
    dataset: str,
    texts: int,
    annotator: str | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> dict[str, float]:
    """Passes of images through models, and the seconds of one of them.

    Parameters
    ----------
    texts : int
        How many captions are scored in each image.
    annotator : str or None
        Opened, and measured on two batches of the dataset's first images.

    Returns
    -------
    dict
        ``images``, ``image_passes`` (through a model of each level), and with an annotator
        ``seconds`` of its passes.
    """
    images = read_annotations(store, dataset).images
    images = images[images["uri"].notna()]
    total = len(images)
    cost: dict[str, float] = {"images": total, "image_passes": LEVELS * total}
    if annotator is None:
        return cost
    if not total:
        raise OptionError(f"{dataset!r} has no images with addresses of their files to measure.")
    opened = ANNOTATORS.open(annotator, dict(options or {}))
    batch = int(getattr(ANNOTATORS.check(annotator, dict(options or {})), "batch_size", 8))
    sample = images.sort_values("id").head(2 * batch)
    read = pixel_reader(Settings.from_environment())
    progress("measure two batches", 0, None)
    shown = [
        read(uri, bool(synthetic))
        for uri, synthetic in zip(sample["uri"], sample["synthetic"], strict=True)
    ]
    captions = [f"a photo of attribute {at}" for at in range(texts)]
    return {**cost, "seconds": measure_seconds(opened, shown, captions, total)}
