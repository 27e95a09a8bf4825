"""The tasks of labelling runs, as workers execute them."""

import threading
from functools import partial

from cobalance.annotation.labelling.chunk import score_chunk
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.annotation.labelling.settings import LabelSettings
from cobalance.app.services.annotations.opening import open_annotator
from cobalance.app.services.annotations.unseen import flag_unseen
from cobalance.app.services.image_files import describe_unread, pixel_reader
from cobalance.app.settings import Settings
from cobalance.generation.output.folder import OutputFolder
from cobalance.generation.worker.resources import RunTask, TaskRun
from cobalance.graph.annotations.runs import TASK_KIND, describe_run, end_run, read_run
from cobalance.graph.errors import CobalanceError
from cobalance.ingest.annotators.annotator import Annotator
from cobalance.ingest.images.arrays import ImageArray


def annotation_tasks(settings: Settings) -> dict[str, RunTask]:
    """What executes the tasks of labelling runs, by their kind."""
    return {TASK_KIND: _Labelling(settings)}


class _Labelling:
    """Labels chunks of images; the annotator of the last chunk stays loaded."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opened: tuple[str, Annotator] | None = None
        self._lock = threading.Lock()

    def __call__(self, task: TaskRun) -> str:
        run = task.graph(partial(read_run, run=str(task.settings["run"])))
        settings = LabelSettings.read(run.settings)
        files = ScoreFiles(OutputFolder(self._settings.output_folder()), run.id)
        chunk = int(task.settings["chunk"])
        note = ""
        if chunk not in files.scored(settings.chunks):
            note = self._score(task, run.id, files, settings, chunk)
        if len(files.scored(settings.chunks)) == settings.chunks:
            flag = partial(flag_unseen, dataset=run.dataset, files=files, settings=settings)
            task.graph(flag)
            task.graph(partial(end_run, run=run.id))
        return note

    def _score(
        self, task: TaskRun, run: str, files: ScoreFiles, settings: LabelSettings, chunk: int
    ) -> str:
        task.progress("load the model", 0, None)
        with self._lock:
            annotator = self._annotator(task, run, settings)
            start = chunk * settings.chunk_images
            images = files.read_images(start, start + settings.chunk_images)
            ids = images["id"].to_pylist()
            shown = [*zip(images["uri"].to_pylist(), images["synthetic"].to_pylist(), strict=True)]
            read = pixel_reader(self._settings)
            unread: list[str] = []

            def read_one(at: int) -> ImageArray | None:
                try:
                    return read(*shown[at])
                except CobalanceError as error:
                    unread.append(f"{ids[at]}: {error}")
                    return None

            scores = score_chunk(
                annotator,
                read_one,
                len(ids),
                settings.texts,
                lambda done: task.progress("label images", done, len(ids)),
            )
        files.write_description(annotator.describe())
        files.write_scores(chunk, ids, scores)
        return describe_unread(unread)

    def _annotator(self, task: TaskRun, run: str, settings: LabelSettings) -> Annotator:
        if self._opened is None or self._opened[0] != run:
            self._opened = None  # before another one is loaded beside it
            folder = OutputFolder(self._settings.output_folder())
            self._opened = (run, open_annotator(settings, folder, run))
            described = self._opened[1].describe()
            known = {
                name: str(described[name])
                for name in ("model", "revision", "weights_sha256")
                if described.get(name) is not None
            }
            task.graph(partial(describe_run, run=run, values=known))
        return self._opened[1]
