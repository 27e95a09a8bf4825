"""People judge blind: audits of a model's labels, and studies of edited images."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Self

import pandas as pd

from cobalance.base import inflect, text_if
from cobalance.graph import (
    Audit as AuditRecord,
    GraphStore,
    Study as StudyRecord,
    close_study,
    read_panel,
)
from cobalance.notebook.display import Result
from cobalance.workflows import (
    answer_sheet,
    audit_imbalances,
    audit_rates,
    panel_progress,
    results_frame,
    take_answers,
)


@dataclass(frozen=True, eq=False, repr=False)
class _Panel(Result):
    graph: GraphStore
    id: str

    @abstractmethod
    def record(self) -> AuditRecord | StudyRecord:
        """The panel as it is in the graph; NotFoundError if it is gone."""

    @abstractmethod
    def result(self) -> pd.DataFrame:
        """Results so far."""

    @property
    def sample(self) -> pd.DataFrame:
        """Questions to each person, blind and in order, with the answers so far.

        Of an audit ``person``, ``image``, ``uri``, ``concept`` (of a clique "cow + road": whether
        the image shows all of them) and ``answer``, None without one.

        Of a study ``person``, ``task`` (from 1), ``question``, ``sentence`` (with a gap to fill),
        ``images`` (from left to right), ``choices`` and ``answer``. Addresses of images may tell
        which one was edited: show people the images, and not this table.
        """
        return answer_sheet(self.graph, self.record())

    def answer(self, answers: pd.DataFrame) -> Self:
        """Record answers, in place of earlier ones of the same people.

        Parameters
        ----------
        answers : DataFrame
            `sample` with ``shows``, ``does not`` or ``unknown``, or one of a study's choices, in
            the column ``answer``; rows where it is empty are ignored.

        Raises
        ------
        DataError
            A row was not asked, is none of the choices, or contradicts another row. Nothing is
            recorded.
        ConflictError
            The study is closed.
        """
        take_answers(self.graph, self.record(), answers)
        return self

    def progress(self) -> pd.DataFrame:
        """How far each person is: ``person``, ``answered``, ``tasks``."""
        return panel_progress(self.graph, self.record())

    @property
    def frame(self) -> pd.DataFrame:
        """The `result` so far."""
        return self.result()

    def _by_people(self) -> str:
        progress = self.progress()
        return (
            f"by {inflect(len(progress), 'people')}: {progress['answered'].sum():,} of "
            f"{inflect(int(progress['tasks'].sum()), 'answers')}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Audit(_Panel):
    """Audit of a model's labels by people, by its id.

    They answer under Audit on the page Annotate of the web app, or by `sample` and `answer`.
    `graph` is that of the store.
    """

    def record(self) -> AuditRecord:
        """The audit as it is in the graph: people, labels and settings; NotFoundError if gone.

        Its labels tell class and verdict, which those who answer should not see.
        """
        return read_panel(self.graph, AuditRecord, self.id)

    def rates(self) -> pd.DataFrame:
        """How many labels are right, and corrected counts; a row a concept (or clique) and class.

        See `cobalance.workflows.panel.verdicts.audit_rates`.
        """
        return audit_rates(self.graph, self.record())

    def result(self) -> pd.DataFrame:
        """The imbalance of each concept (or clique) before and after correction, with a verdict.

        See `cobalance.annotation.auditing.imbalance.corrected_imbalances`.
        """
        return audit_imbalances(self.graph, self.record())

    def title(self) -> str:
        """Number of labels and people, and progress."""
        audit = self.record()
        labels = inflect(len(audit.labels), "labels")
        return f"Audit of {labels} of {audit.dataset!r} {self._by_people()}"

    def shown(self) -> pd.DataFrame:
        """The gap of each concept, as labels have it and corrected, with the verdict."""
        names = ["concept", "over_represented", "under_represented", "gap", "corrected_gap"]
        limits = ["corrected_gap_low", "corrected_gap_high"]
        return self.frame[[*names, *limits, "verdict"]].round(1)


@dataclass(frozen=True, eq=False, repr=False)
class Study(_Panel):
    """People's judgement of a job's edited images, by its id.

    They answer on the page Study of the web app, or by `sample` and `answer`. `graph` is that of
    the store.
    """

    def record(self) -> StudyRecord:
        """The study as it is in the graph; NotFoundError if it is gone.

        Its pairs tell which image was edited, which those who answer should not see.
        """
        return read_panel(self.graph, StudyRecord, self.id)

    def result(self) -> pd.DataFrame:
        """Shares of answers with intervals, and how far people agree.

        See `cobalance.evaluation.study.agreement.study_results`.

        Raises
        ------
        MissingExtraError
            krippendorff is not installed.
        """
        return results_frame(self.graph, self.record())

    def close(self) -> "Study":
        """Take no more answers."""
        close_study(self.graph, self.id)
        return self

    def title(self) -> str:
        """Number of pairs and people, and progress."""
        study = self.record()
        closed = text_if(study.closed_at is not None, ", closed")
        pairs = inflect(len(study.pairs), "pairs")
        return f"Study of {pairs} of job {study.job} {self._by_people()}{closed}"

    def shown(self) -> pd.DataFrame:
        """The results that somebody has answered."""
        return self.frame[self.frame["n"] > 0].round(3)
