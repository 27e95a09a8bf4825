"""The images that a job takes objects from or edits, and whether their files are there."""

from collections.abc import Sequence

import numpy as np

from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.backend import BackendPlugin
from cobalance.generation.jobs.settings import JobSettings
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.cliques import read_mining_options
from cobalance.graph.dataset.read import ClassImages, read_class_images
from cobalance.graph.errors import OptionError, Setting, StaleError
from cobalance.graph.records import PlannedQuery
from cobalance.graph.wording import inflect
from cobalance.ingest.images.roots import ImageRoots
from cobalance.workflows.load.found_images import looked_in
from cobalance.workflows.load.image_places import file_identity

LOOKED_FOR = 20  # images of each class, at most
_NAMED = 3  # classes without, after which no others are looked at


def source_images(store: GraphStore, dataset: str, job: JobSettings) -> dict[str, ClassImages]:
    """Read the images that a job may take by class: those of its split, or of the mined one."""
    split = job.split
    if split is None:
        try:
            split = read_mining_options(store, dataset).split
        except StaleError:  # the plan is older than the images
            split = None
    return read_class_images(store, dataset, split=split)


def check_sources(
    store: GraphStore,
    dataset: str,
    job: JobSettings,
    queries: Sequence[PlannedQuery],
    places: Sequence[str],
) -> None:
    """Raise OptionError for a job that takes objects from images of which no file is found.

    Of each class that the queries ask for, and of the images that they edit, some are looked for,
    evenly spaced, until one has a file. One must, unless the job is to do without.

    Parameters
    ----------
    places : sequence of str
        Of image files, from `cobalance.workflows.folders.Folders.image_roots`.
    """
    plugin = BACKENDS[job.backend]
    takes_source = not isinstance(plugin, BackendPlugin) or plugin.takes_source
    if job.without_images or not takes_source:
        return
    images = source_images(store, dataset, job)
    edited = {query.edit.source_image for query in queries if query.edit is not None}
    wanted: dict[str, Sequence[str]] = {
        f"of the class {name!r}": images[name].uris if name in images else ()
        for name in sorted({query.class_name for query in queries if query.edit is None})
    }
    if edited:
        pairs = (pair for one in images.values() for pair in zip(one.ids, one.uris, strict=True))
        wanted["to edit"] = [uri for image, uri in pairs if image in edited]
    roots = ImageRoots(places)
    looked_for = found = 0
    without: list[str] = []
    for which, uris in wanted.items():
        for at in np.linspace(0, len(uris) - 1, min(len(uris), LOOKED_FOR)).astype(int):
            looked_for += 1
            if file_identity(roots, uris[at]):
                found += 1
                break
        else:
            without.append(which)
        if len(without) == _NAMED:
            break
    if not without:
        return
    needs = (
        f"The recipe {job.recipe} takes objects from the dataset's images, and no image "
        f"{' or '.join(without)}"
    )
    if not looked_for:
        raise OptionError(
            f"{needs} names a file. Load the dataset with the names of its files. Where the recipe "
            "can do without, order with ",
            *(Setting("without_images", True), "."),
        )
    raise OptionError(
        f"{needs} has a file that is found: {found:,} of {inflect(looked_for, 'files')} looked for "
        f"are there; {looked_in(places)}. Set ",
        Setting("images"),
        " to the folder, ZIP file or URL that has them. Where workers elsewhere have them, or the "
        "recipe can do without, order with ",
        *(Setting("without_images", True), "."),
    )
