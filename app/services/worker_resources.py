"""Open the resources of workers: output folder, image files and sources, as the settings say."""

import threading

from app.services.stores import open_store
from app.settings import Settings
from generation.image_request import GenerationError
from generation.jobs.settings import JobSettings
from generation.output.folder import OutputFolder
from generation.sources.object_masks import Segment
from generation.sources.sampler import Sources
from generation.sources.segmenters import SEGMENTERS
from generation.worker.resources import WorkerResources
from graph.database.store import GraphStore
from graph.dataset.cliques import mined_with
from graph.dataset.read import read_class_images
from graph.errors import StaleError
from graph.records import Box
from ingest.images.arrays import ImageArray, MaskArray
from ingest.images.image_file import ImageFileError
from ingest.images.regions import read_regions
from ingest.images.roots import ImageRoots


def worker_resources(settings: Settings) -> WorkerResources:
    """Open what workers of this process need.

    Raises
    ------
    OptionError
        The output folder cannot be opened.
    """
    roots = ImageRoots(settings.image_roots())

    def read_image(uri: str) -> bytes:
        try:
            return roots.find(uri).read()
        except ImageFileError as error:
            raise GenerationError(*error.parts) from error

    def open_sources(store: GraphStore, dataset: str, job: JobSettings) -> Sources | None:
        images = read_class_images(store, dataset, split=_split(store, dataset, job))
        if not any(of_class.ids for of_class in images.values()):
            return None
        segment = described = None
        if job.segmenter is not None:
            segmenter = SEGMENTERS.open(job.segmenter, job.segmenter_options)
            segment, described = _one_at_a_time(segmenter.segment), segmenter.describe()
        folder = settings.regions_folder()
        return Sources(
            images,
            read_image,
            lambda ids: read_regions(folder, dataset, ids),
            job.masks,
            segment,
            described,
        )

    return WorkerResources(
        lambda: open_store(settings), OutputFolder(settings.output_folder()), open_sources
    )


def _split(store: GraphStore, dataset: str, job: JobSettings) -> str | None:
    """The split that objects come from: the job's, or else the mined one."""
    if job.split is not None:
        return job.split
    try:
        return mined_with(store, dataset).split
    except StaleError:  # the plan is older than the images
        return None


def _one_at_a_time(segment: Segment) -> Segment:
    lock = threading.Lock()

    def segment_alone(image: ImageArray, box: Box | None) -> MaskArray:
        with lock:
            return segment(image, box)

    return segment_alone
