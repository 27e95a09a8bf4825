"""Execute labelling runs in a worker: open the annotator, label chunk by chunk."""

import threading
from functools import partial

from cobalance.annotation import (
    ANNOTATORS,
    UNSEEN,
    Annotator,
    LabelSettings,
    Transcript,
    label_summary,
    open_remote,
    select_told,
)
from cobalance.annotation.labelling.score_files import ScoreFiles, score_chunk
from cobalance.base import CobalanceError
from cobalance.generation.worker.resources import RunTask, TaskRun
from cobalance.graph import (
    TASK_KIND,
    GraphStore,
    describe_run,
    end_run,
    list_attributes,
    read_run,
    write_flags,
)
from cobalance.vision import ImageArray
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.folders import Folders
from cobalance.workflows.images import describe_unread, pixel_reader
from cobalance.workflows.label.order import concepts_of
from cobalance.workflows.label.propose import open_endpoint


def annotation_tasks(folders: Folders) -> dict[str, RunTask]:
    """Functions that execute the tasks of labelling runs, by kind."""
    return {TASK_KIND: _Labelling(folders)}


class _Labelling:
    """Labels chunks of images; the annotator of the last chunk stays loaded."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._opened: tuple[str, Annotator] | None = None
        self._lock = threading.Lock()

    def __call__(self, task: TaskRun) -> str:
        run = task.graph(partial(read_run, run=str(task.settings["run"])))
        settings = LabelSettings.read(run.settings)
        files = ScoreFiles(self._folders.open_output(), run.id)
        chunk = int(task.settings["chunk"])
        note = ""
        if chunk not in files.list_scored(settings.chunks):
            note = self._score(task, run.id, files, settings, chunk)

        # Whichever worker scores the last chunk ends the run.
        if len(files.list_scored(settings.chunks)) == settings.chunks:
            flag = partial(flag_unseen, dataset=run.dataset, files=files, settings=settings)
            task.graph(flag)
            task.graph(partial(end_run, run=run.id))
        return note

    def _score(
        self, task: TaskRun, run: str, files: ScoreFiles, settings: LabelSettings, chunk: int
    ) -> str:
        task.progress("load the model", 0, None)
        # The threads of a worker share the annotator.
        with self._lock:
            annotator = self._annotator(task, run, settings)
            start = chunk * settings.chunk_images
            images = files.read_images(start, start + settings.chunk_images).to_pylist()
            read = pixel_reader(self._folders, str(task.dataset))
            unread: list[str] = []

            def read_image(row: int) -> ImageArray | None:
                image = images[row]
                try:
                    return read(image["uri"], image["synthetic"])
                except CobalanceError as error:
                    unread.append(f"{image['id']}: {error}")
                    return None

            scores = score_chunk(
                annotator,
                read_image,
                len(images),
                settings.texts,
                lambda done: task.progress("label images", done, len(images)),
            )

        files.write_description(annotator.describe())
        files.write_scores(chunk, [image["id"] for image in images], scores)
        return describe_unread(unread)

    def _annotator(self, task: TaskRun, run: str, settings: LabelSettings) -> Annotator:
        if self._opened is None or self._opened[0] != run:
            # The last model goes before another one is loaded, not to have both in memory.
            self._opened = None
            folder = self._folders.open_output()
            self._opened = (run, open_annotator(settings, folder, run))
            description = self._opened[1].describe()
            provenance = select_told(description, "model", "revision", "weights_sha256")
            task.graph(partial(describe_run, run=run, values=provenance))
        return self._opened[1]


def open_annotator(settings: LabelSettings, folder: OutputFolder, run: str) -> Annotator:
    """Open a run's annotator; the replies of an address are kept in the run's folder.

    Raises
    ------
    OptionError
        An option, the address or its key cannot be used.
    MissingExtraError
        It needs packages that are not installed.
    JobBlockedError
        Its model is missing, incomplete or of the wrong kind.
    """
    endpoint = settings.endpoint
    if endpoint is None:
        return ANNOTATORS.open(settings.annotator, settings.options)
    transcript = Transcript(open_endpoint(endpoint), folder, f"annotations/{run}/replies")
    return open_remote(settings.annotator, settings.options, endpoint, transcript)


def flag_unseen(store: GraphStore, dataset: str, files: ScoreFiles, settings: LabelSettings) -> int:
    """Update the flag on a run's attributes that no image shows.

    GELDA itself proposed "object detection", and found it in 0.0% of its images of cars.

    Returns
    -------
    int
        How many are flagged; none where no image could be read.
    """
    # A share is missing where no image could be read.
    summary = label_summary(files, settings).dropna(subset="share")
    n_images = dict(zip(summary["concept"], summary["images"], strict=True))
    attributes = list_attributes(store, dataset)
    keys = zip(attributes["category"], attributes["proposed"], strict=True)
    flags_of = dict(zip(keys, attributes["flags"], strict=True))

    changed = {}
    for key, concept in concepts_of(attributes).items():
        if concept in n_images:
            flags = [flag for flag in flags_of[key] if flag != UNSEEN]
            if n_images[concept] == 0:
                flags.append(UNSEEN)
            changed[key] = tuple(flags)

    write_flags(store, dataset, changed)
    return sum(UNSEEN in flags for flags in changed.values())
