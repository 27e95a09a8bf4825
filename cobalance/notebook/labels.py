"""Labels that models give a dataset's images: made, looked at, accepted or rejected."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from cobalance.annotation import PER_STRATUM, LabelSettings, label_summary, read_labels
from cobalance.base import Progress, inflect, silent
from cobalance.graph import AnnotationRun, Audit as AuditRecord, GraphStore, list_panels, read_run
from cobalance.notebook.arguments import list_names
from cobalance.notebook.display import Result
from cobalance.notebook.jobs import run_in_process
from cobalance.notebook.panels import Audit
from cobalance.workflows import (
    AuditSample,
    Settings,
    change_thresholds,
    decide_labels,
    draw_audit,
    open_scores,
)


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
        tasks = [f"{self.id}-{chunk}" for chunk in range(self.record().chunks)]
        run_in_process(self.settings, tasks, self.progress, queue=self.id)
        return self

    def record(self) -> AnnotationRun:
        """The run as it is in the graph, with state, error and settings."""
        return read_run(self.graph, self.id)

    @property
    def frame(self) -> pd.DataFrame:
        """How many images show each concept: see `annotation.labelling.labels.label_summary`."""
        return label_summary(self._scores(), self._settings())

    def images(self) -> pd.DataFrame:
        """A row for each label: ``image``, ``concept`` and ``score``."""
        return read_labels(self._scores(), self._settings())

    def scores(self) -> Iterator[tuple[list[str], pd.DataFrame]]:
        """Every score, low ones too, a chunk at a time: ids of images, and a column a text."""
        settings = self._settings()
        for ids, scores in self._scores().read_scores(settings.chunks, len(settings.texts)):
            yield ids, pd.DataFrame(scores.matrix, index=ids, columns=list(settings.texts))

    def accept(self, decided_by: str = "") -> "Labels":
        """Add the labels to the dataset's concepts; mine it again to count them."""
        return self._decide("accepted", decided_by)

    def reject(self, decided_by: str = "") -> "Labels":
        """Remove the labels; the dataset is as it was before `accept`."""
        return self._decide("rejected", decided_by)

    def change(
        self,
        threshold: float | None = None,
        thresholds: Mapping[str, float] | None = None,
        *,
        multi: bool | None = None,
    ) -> "Labels":
        """Change from which scores on labels count, without any model."""
        change_thresholds(
            self.graph,
            self.settings.folders().open_output(),
            self.id,
            threshold=threshold,
            thresholds=thresholds,
            multi=multi,
            progress=self.progress,
        )
        return self

    def audit(
        self,
        people: Sequence[str] | str,
        n: int = PER_STRATUM,
        *,
        overlap: int | None = None,
        seed: int = 0,
        concepts: Sequence[str] | str = (),
        cliques: Sequence[Sequence[str]] = (),
    ) -> Audit:
        """Draw a sample of the labels for people to check, blind.

        Parameters
        ----------
        people : sequence of str
            Who checks: any names, or e-mail addresses where the web app has a login.
        n : int
            Images of each concept (or clique), class and verdict; all where there are fewer.
        overlap : int, optional
            How many people check each label; by default all of them.
        seed : int
            Of the draw.
        concepts : sequence of str
            Whose labels are checked; by default all, or none if there are cliques.
        cliques : sequence of sequence of str
            Combinations that are checked as one, such as ``[("cow", "road")]``: whether an image
            shows all of them.

        Raises
        ------
        OptionError, UnknownNameError
            The labels are not complete, nobody is named, or a concept or clique is none.
        """
        sample = AuditSample(
            people=list_names(people),
            n=n,
            overlap=overlap,
            seed=seed,
            concepts=list_names(concepts),
            cliques=tuple(map(list_names, cliques)),
        )
        folder = self.settings.folders().open_output()
        return Audit(self.graph, draw_audit(self.graph, folder, self.id, sample).id)

    def audits(self) -> list[Audit]:
        """The audits of these labels, the newest first."""
        audits = list_panels(self.graph, AuditRecord, run=self.id)
        return [Audit(self.graph, audit.id) for audit in audits]

    def title(self) -> str:
        """Model, state and how far it is."""
        run = self.record()
        done = f"{run.done:,} of {inflect(run.chunks, 'chunks')}"
        return f"Labels of {run.dataset!r} by {run.model}: {run.state}, {done}"

    def shown(self) -> pd.DataFrame:
        """The concepts and how often they were found; nothing before all images are labelled."""
        if self.record().has_labels:
            return self.frame
        return pd.DataFrame()

    def _decide(self, state: Any, decided_by: str) -> "Labels":
        decide_labels(
            self.graph,
            self.settings.folders().open_output(),
            self.id,
            state,
            decided_by=decided_by,
            progress=self.progress,
        )
        return self

    def _settings(self) -> LabelSettings:
        return LabelSettings.read(self.record().settings)

    def _scores(self) -> Any:
        """The run's `ScoreFiles`."""
        return open_scores(self.settings.folders(), self.id)
