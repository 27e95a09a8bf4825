"""Jobs that make a plan's images: watched, run here, looked through, merged or exported."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

import pandas as pd

from cobalance.base import Progress, WaitedTooLongError, needs_extra, silent
from cobalance.base.safe_text import safe_text
from cobalance.generation import ExportOptions
from cobalance.graph import (
    Candidate,
    CandidateState,
    GraphStore,
    Job as JobRecord,
    Study as StudyRecord,
    cancel_job,
    decide,
    drop_short,
    list_candidates,
    list_panels,
    read_job,
    read_queries,
    retry_job,
)
from cobalance.notebook.arguments import list_names
from cobalance.notebook.display import Result, bar_html, card, table_html
from cobalance.notebook.panels import Study
from cobalance.notebook.remedies import SpeaksPython, speaks_python
from cobalance.workflows import (
    Sample,
    Settings,
    add_acceptance,
    candidates_frame,
    check_settings,
    describe_pace,
    draw_study,
    export_job,
    jobs_frame,
    rebalance_job,
    reorder_short,
    settings_to_reuse,
)

MadeDataset = TypeVar("MadeDataset")

# Candidates that are read at once.
_PAGE = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Export(Result):
    """Report of an export: the folder, images by kind, and the number and size of its files."""

    folder: Path
    counts: dict[str, int]
    files: int
    bytes: int

    @property
    def frame(self) -> pd.DataFrame:
        """The counts."""
        return pd.DataFrame({"of": list(self.counts), "count": list(self.counts.values())})

    def title(self) -> str:
        """Folder, number of files and bytes."""
        return f"{self.folder}: {self.files:,} files, {self.bytes:,} bytes"


@dataclass(frozen=True, eq=False, repr=False)
class JobProgress(Result):
    """Progress of a job; `record` has its state, counts, workers and times."""

    record: JobRecord

    @property
    def state(self) -> str:
        """``queued``, ``running``, ``done``, ``failed`` or ``cancelled``."""
        return self.record.state

    @property
    def share(self) -> float:
        """Share of the wanted images that are accepted, from 0 to 1."""
        return self.record.progress

    @property
    def frame(self) -> pd.DataFrame:
        """The row of `Store.jobs` of the job."""
        return jobs_frame([self.record])

    def title(self) -> str:
        """One line."""
        job = self.record
        # Of several candidates for each image, images are accepted late.
        steps = ""
        if job.is_active and job.best_of > 1:
            steps = ", {:,} of {:,} candidates made".format(*job.steps)

        remaining = ""
        if job.seconds_left is not None:
            remaining = f", about {job.seconds_left:,.0f} s left"
        return (
            f"Job {job.id} is {job.state}: {job.covered:,} of {job.wanted:,} images accepted, "
            f"{job.rejected:,} rejected{steps}, {job.workers:,} workers{remaining}"
        )

    def __repr__(self) -> str:
        lines = [self.title(), *describe_pace(self.record), *self.record.remarks]
        return safe_text("\n".join(lines))

    def _repr_html_(self) -> str:
        notes = [*describe_pace(self.record), *self.record.remarks]
        remarks = pd.DataFrame({"note": notes})
        return card(self.title(), bar_html(self.share), table_html(remarks))


def run_in_process(
    settings: Settings, ids: Sequence[str], progress: Progress, queue: str | None = None
) -> None:
    """Run jobs or tasks until all have ended.

    Parameters
    ----------
    queue : str, optional
        The name of their queue, which is no other worker's; by default the first id.

    Raises
    ------
    MissingExtraError
        A worker, or what they need, is not installed.
    """
    with needs_extra("A worker", "worker"):
        from cobalance.workflows import run_here
    home = settings.cobalance_home.expanduser().absolute() / "python"
    run_here(settings, ids, f"sqlite:///{home / f'{queue or ids[0]}.sqlite'}", progress)


@dataclass(frozen=True, eq=False, repr=False)
class Job(SpeaksPython, Generic[MadeDataset]):
    """A job of a `Store`, by its id.

    `graph`, `settings` and `report` are those of the store; `open_dataset` gives the dataset that
    `rebalance` makes, by its name, with remarks.
    """

    graph: GraphStore
    settings: Settings
    id: str
    open_dataset: Callable[[str, tuple[str, ...]], MadeDataset]
    report: Progress = silent

    def progress(self) -> JobProgress:
        """Read the progress; NotFoundError if the job was dropped with its dataset."""
        return JobProgress(read_job(self.graph, self.id))

    @property
    def state(self) -> str:
        """``queued``, ``running``, ``done``, ``failed`` or ``cancelled``."""
        return self.progress().state

    def run(self) -> Self:
        """Make the images in this process, and return when the job has ended.

        For small jobs: large ones are for workers, ``cobalance work``, on any number of machines.
        An interrupt leaves the job to go on with.

        Raises
        ------
        MissingExtraError
            A worker, or what the job's settings ask for, is not installed.
        """
        run_in_process(self.settings, [self.id], self.report)
        return self

    def wait(self, timeout_s: float | None = None, *, poll_s: float = 1.0) -> Self:
        """Return when the job has ended; an interrupt ends the waiting, not the job.

        Parameters
        ----------
        timeout_s : float, optional
            When to give up.

        Raises
        ------
        WaitedTooLongError
            It has not ended by then.
        """
        for _ in self._until_ended(timeout_s, poll_s):
            pass
        return self

    def watch(self, timeout_s: float | None = None, *, poll_s: float = 1.0) -> Self:
        """Print how far the job is, on one line, until it has ended; as `wait` otherwise."""
        width = 0
        for line in self._until_ended(timeout_s, poll_s):
            print(f"\r{safe_text(line):<{width}}", end="", flush=True)  # noqa: T201
            width = len(line)
        print()  # noqa: T201
        return self

    def _until_ended(self, timeout_s: float | None, poll_s: float) -> Iterator[str]:
        deadline = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while True:
            progress = self.progress()
            yield progress.title()
            if not progress.record.is_active:
                return
            if time.monotonic() >= deadline:
                raise WaitedTooLongError(f"{progress.title()}. Wait longer, or start workers.")
            time.sleep(poll_s)

    def cancel(self) -> Self:
        """Cancel it; images under way are finished and kept."""
        cancel_job(self.graph, self.id)
        return self

    def retry(self, *, short: bool = False) -> Self:
        """Queue its failed queries again, and go on with a cancelled one.

        With `short`, also ask again for images that a query gave up, or people rejected.
        """
        retry_job(self.graph, self.id, short=short)
        return self

    def drop_short(self) -> Self:
        """Do without the images that its queries gave up; accepted ones stay."""
        drop_short(self.graph, self.id)
        return self

    def reorder_short(self, recipe: str | None = None, **settings: Any) -> Self:
        """Order the images that its queries gave up as a new job; this one does without them.

        Parameters
        ----------
        recipe : str, optional
            Another recipe, with its own settings; by default this job's.
        **settings
            Other settings of the new job, as `Dataset.order` takes them.

        Raises
        ------
        DataError
            No query has given up.
        OptionError
            A setting is unknown or cannot be used.
        """
        earlier = self.progress().record
        checked = check_settings({**settings_to_reuse(earlier, recipe), **settings})
        places = self.settings.folders().image_roots(earlier.dataset)
        job = reorder_short(self.graph, self.id, checked, self.report, places=places)
        return replace(self, id=job)

    def queries(self) -> pd.DataFrame:
        """A row a query of the plan, with how far it is, and the share of accepted candidates."""
        return add_acceptance(read_job(self.graph, self.id), read_queries(self.graph, self.id))

    def candidates(self, verdict: CandidateState | None = None) -> pd.DataFrame:
        """A row for each candidate: class and concepts, verdict, scores and location.

        Parameters
        ----------
        verdict : {"pending", "accepted", "rejected"}, optional
            Only those.
        """
        candidates: list[Candidate] = []
        # The page that is not full is the last one, also where candidates vanish meanwhile.
        for number in count(1):
            page = list_candidates(
                self.graph, self.id, verdict=verdict, page=number, per_page=_PAGE
            )
            candidates += page.candidates
            if len(page.candidates) < _PAGE:
                break
        return candidates_frame(candidates)

    def accept(self, candidate: str) -> None:
        """Accept an image, overriding the filters."""
        decide(self.graph, candidate, "accepted", "")

    def reject(self, candidate: str) -> None:
        """Reject an image, overriding the filters."""
        decide(self.graph, candidate, "rejected", "")

    def study(
        self,
        people: Sequence[str] | str,
        pairs: int | None = None,
        *,
        overlap: int | None = None,
        seed: int = 0,
        words: Sequence[str] = (),
    ) -> Study:
        """Draw a sample of accepted edits for people to judge beside their originals, blind.

        Parameters
        ----------
        people : sequence of str
            Who judges: any names, or e-mail addresses where the web app has a login.
        pairs : int, optional
            How many are drawn; by default 300, or all where there are fewer.
        overlap : int, optional
            How many people judge each pair; by default all of them.
        seed : int
            Of the draw.
        words : sequence of str
            Lists of the words of groups, for the gap in captions; by default those of the plan.

        Raises
        ------
        OptionError
            There are too few edits with files, or nobody is named.
        """
        sample = Sample(list_names(people), pairs, overlap, seed, tuple(words))
        return Study(self.graph, draw_study(self.graph, self.id, sample).id)

    def studies(self) -> list[Study]:
        """The human studies of its images, the newest first."""
        studies = list_panels(self.graph, StudyRecord, job=self.id)
        return [Study(self.graph, study.id) for study in studies]

    def rebalance(
        self,
        into: str | None = None,
        *,
        annotator: str | None = None,
        annotator_options: dict[str, Any] | None = None,
        **result: Any,
    ) -> MadeDataset:
        """Put the accepted images beside the real ones in a new dataset, and mine it alike.

        Parameters
        ----------
        into : str, optional
            Its name; by default the old one's with ``-rebalanced`` behind.
        annotator : str, optional
            Take the concepts that this annotator finds in the images, not those that they were made
            for.
        **result
            Of a job that edits images, which images the new dataset has: those of
            `cobalance.generation.planning.composition.ResultOptions`, such as ``real="none"``.
        """
        merged = rebalance_job(
            self.graph,
            self.settings.folders(),
            self.progress().record,
            into,
            annotator=annotator,
            annotator_options=annotator_options,
            result=result,
            progress=self.report,
        )
        return self.open_dataset(merged.dataset, merged.remarks)

    def export(
        self,
        folder: str | Path,
        format: str = "folder",  # noqa: A002 - as other libraries' exports have it
        *,
        generated_only: bool = False,
        result: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Export:
        """Write the dataset with the accepted images for training, with a data card.

        Parameters
        ----------
        folder : str or Path
            The folder to make.
        format : str
            ``folder``, ``imagefolder``, ``coco``, ``webdataset`` or ``weights``.
        generated_only : bool
            Without the real images.
        result : mapping, optional
            As `rebalance` takes it.
        **options
            Those of `cobalance.generation.export.options.ExportOptions`, such as
            ``reference=True``, ``skip_missing=True`` and ``overwrite=True``.

        Raises
        ------
        ExportError, OptionError
            The folder or an option cannot be used, or images cannot be read.
        """
        checked = speaks_python(ExportOptions)(**options)
        target = Path(folder)
        report = export_job(
            self.graph,
            self.settings.folders(),
            self.progress().record,
            format,
            target,
            checked,
            real=not generated_only,
            result=result,
            progress=self.report,
        )

        # Kinds that no image is of say nothing.
        counts = {name: count for name, count in report.counts.items() if count}
        return Export(target, counts, report.files, report.bytes)

    def __repr__(self) -> str:
        return repr(self.progress())

    def _repr_html_(self) -> str:
        return self.progress()._repr_html_()
