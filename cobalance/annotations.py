"""Labels that models give a dataset's images: made, looked at, accepted or rejected."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from app.settings import Settings
from cobalance.display import Result
from cobalance.wording import methods_speak_python
from graph.annotations.runs import AnnotationRun, read_run
from graph.database.store import GraphStore
from graph.errors import needs_extra
from graph.progress import Progress, silent
from ingest.concepts.plurals import counted

if TYPE_CHECKING:
    from annotation.labelling.score_files import ScoreFiles
    from annotation.labelling.settings import LabelSettings
    from generation.output.folder import OutputFolder


@methods_speak_python
@dataclass(frozen=True, eq=False, repr=False)
class Labels(Result):
    """A model's labels for a dataset of a `Store`, by the id of their annotation run.

    They count for nothing before `accept`. `graph`, `settings` and `progress` are those of the
    store.
    """

    graph: GraphStore
    settings: Settings
    id: str
    progress: Progress = silent

    def run(self) -> "Labels":
        """Label the images in this process; return when all are done.

        Raises
        ------
        MissingExtraError
            A worker, or what the model needs, is not installed.
        """
        with needs_extra("A worker", "worker"):
            from app.services.workers import run_here
        home = self.settings.cobalance_home.expanduser().absolute() / "python"
        tasks = [f"{self.id}-{at}" for at in range(self.record().chunks)]
        run_here(self.settings, tasks, f"sqlite:///{home / f'{self.id}.sqlite'}", self.progress)
        return self

    def record(self) -> AnnotationRun:
        """The run as it is in the graph, with state, error and settings."""
        return read_run(self.graph, self.id)

    @property
    def frame(self) -> pd.DataFrame:
        """How many images show each concept: see `annotation.labelling.labels.label_summary`."""
        from annotation.labelling.labels import label_summary

        return label_summary(*self._files())

    def images(self) -> pd.DataFrame:
        """What was found: ``image``, ``concept`` and ``score``, a row for each label."""
        from annotation.labelling.labels import read_labels

        return read_labels(*self._files())

    def scores(self) -> Iterator[tuple[list[str], pd.DataFrame]]:
        """Every score, low ones too, a chunk at a time: ids of images, and a column a text."""
        files, settings = self._files()
        for ids, scores in files.read_scores(settings.chunks, len(settings.texts)):
            yield ids, pd.DataFrame(scores.matrix, index=ids, columns=list(settings.texts))

    def accept(self, decided_by: str = "") -> "Labels":
        """Make what was found concepts of the dataset; mine it again to count them."""
        return self._decide("accepted", decided_by)

    def reject(self, decided_by: str = "") -> "Labels":
        """Leave out what was found; the dataset is as it was before `accept`."""
        return self._decide("rejected", decided_by)

    def change(
        self,
        threshold: float | None = None,
        thresholds: Mapping[str, float] | None = None,
        *,
        multi: bool | None = None,
    ) -> "Labels":
        """Change from which scores on labels count, without any model."""
        from app.services.annotations.decisions import change_thresholds

        change_thresholds(
            self.graph,
            self._folder(),
            self.id,
            threshold=threshold,
            thresholds=thresholds,
            multi=multi,
            progress=self.progress,
        )
        return self

    def title(self) -> str:
        """Model, state and how far it is."""
        found = self.record()
        done = f"{found.done:,} of {counted(found.chunks, 'chunks')}"
        return f"Labels of {found.dataset!r} by {found.model}: {found.state}, {done}"

    def shown(self) -> pd.DataFrame:
        """The concepts and how often they were found; nothing before all images are labelled."""
        ready = self.record().state in ("done", "accepted", "rejected")
        return self.frame if ready else pd.DataFrame()

    def _decide(self, state: Any, decided_by: str) -> "Labels":
        from app.services.annotations.decisions import decide_labels

        decide_labels(
            self.graph,
            self._folder(),
            self.id,
            state,
            decided_by=decided_by,
            progress=self.progress,
        )
        return self

    def _folder(self) -> "OutputFolder":
        from generation.output.folder import OutputFolder

        return OutputFolder(self.settings.output_folder())

    def _files(self) -> "tuple[ScoreFiles, LabelSettings]":
        from annotation.labelling.score_files import ScoreFiles
        from annotation.labelling.settings import LabelSettings

        settings = LabelSettings.read(self.record().settings)
        return ScoreFiles(self._folder(), self.id), settings
