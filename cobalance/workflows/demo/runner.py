"""Runner of the demonstrations: folders, a queue, and jobs that resume."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from cobalance.base import CobalanceError, ConflictError, OptionError, Progress, make_folder, silent
from cobalance.counting import MiningOptions
from cobalance.graph import (
    GraphStore,
    Job,
    Task,
    find_dataset,
    list_jobs,
    mine_dataset,
    read_plan,
    retry_job,
    write_annotations,
)
from cobalance.vision import write_regions
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.demo.draw_digits import Digits, write_images
from cobalance.workflows.demo.removal import claim_name
from cobalance.workflows.folders import Folders
from cobalance.workflows.order.job import order_plan
from cobalance.workflows.order.settings import check_settings
from cobalance.workflows.settings import Settings
from cobalance.workflows.work.run import run_here

Work = TypeVar("Work", Job, Task)


@dataclass(frozen=True)
class Runner:
    """The store and the folders that a demonstration runs in; its output folder is made.

    Raises
    ------
    OptionError
        The output folder is not on this machine.
    """

    store: GraphStore
    settings: Settings
    progress: Progress = silent

    def __post_init__(self) -> None:
        if "://" in self.folders.output:
            raise OptionError(
                f"COBALANCE_OUTPUT is {self.folders.output}; the demonstration writes its pictures "
                "there. Name a folder on this machine."
            )
        make_folder(self.place)

    @property
    def folders(self) -> Folders:
        """The folders of the settings."""
        return self.settings.folders()

    @property
    def place(self) -> Path:
        """The output folder, as a path."""
        return Path(self.folders.output).expanduser()

    @property
    def output(self) -> OutputFolder:
        """The output folder, as jobs and evaluations write to it."""
        return self.folders.open_output()

    def pictures(self, name: str) -> Path:
        """Claim a dataset; the folder of its pictures, whose addresses begin with `prefix_of`."""
        claim_name(self.store, name)
        return self.place / "demo" / name

    def check_leftovers(self, made_of: Mapping[str, str]) -> None:
        """Refuse datasets that an earlier run made and that the new jobs cannot be merged into.

        Parameters
        ----------
        made_of : mapping of str to str
            For each dataset that is to be made, the one that it is made of.

        Raises
        ------
        ConflictError
            One is there without the other.
        """
        for made, origin in made_of.items():
            has_made = find_dataset(self.store, made) is not None
            if has_made and find_dataset(self.store, origin) is None:
                raise ConflictError(
                    f"{made!r} is left from an earlier demonstration, but {origin!r} is gone. Drop "
                    f"it, too: cobalance datasets drop {made}"
                )

    def order(self, dataset: str, plan: str, settings: Mapping[str, Any]) -> str:
        """Order a plan's images; the job of an earlier run goes on, also if it failed.

        Parameters
        ----------
        settings : mapping
            Of the job, which is known again by its ``seed``.
        """
        for job in list_jobs(self.store, dataset):
            if job.settings.get("seed") == settings["seed"]:
                if job.state in ("failed", "cancelled"):
                    retry_job(self.store, job.id)
                return job.id

        return order_plan(
            self.store,
            dataset,
            plan,
            read_plan(self.store, dataset, plan),
            check_settings(settings),
            self.progress,
            places=self.folders.image_roots(dataset),
        )

    def run(
        self,
        read: Callable[[GraphStore, str], Work],
        ids: Collection[str],
        progress: Progress | None = None,
    ) -> list[Work]:
        """Run jobs or tasks until all are done, and read them.

        Parameters
        ----------
        read : callable
            `cobalance.graph.jobs.status.read_job` or `cobalance.graph.tasks.lifecycle.read_task`.
        progress : callable, optional
            In place of the demonstration's.

        Raises
        ------
        CobalanceError
            One has failed or was cancelled.
        """
        home = self.settings.cobalance_home.expanduser().absolute()
        queue = f"sqlite:///{home / 'demo' / 'queue.sqlite'}"
        run_here(self.settings, ids, queue, progress or self.progress)

        ended = [read(self.store, work_id) for work_id in ids]
        for work in ended:
            if work.state != "done":
                kind = work.kind if isinstance(work, Task) else "job"
                raise CobalanceError(
                    f"The {kind} {work.id} is {work.state}, and not done. {work.error} When that "
                    "is mended, run the demonstration again; it goes on from there."
                )
        return ended


def prefix_of(name: str) -> str:
    """Prefix of the addresses of a demonstration's pictures."""
    return f"demo/{name}/"


def load_digits(runner: Runner, name: str, drawn: Digits) -> None:
    """Write the pictures of digits with exemplars of their concepts, load and mine them."""
    store, progress, folder = runner.store, runner.progress, runner.pictures(name)
    write_images(folder, drawn.table["id"], drawn.pixels)
    drawn.write_exemplars(folder / "exemplars")

    write_annotations(
        store,
        name,
        drawn.annotations(folder=prefix_of(name)),
        source="digits on photographs, with the shortcuts of UrbanCars",
        if_exists="replace",
        progress=progress,
    )
    regions = drawn.annotations(regions=True, folder=prefix_of(name))
    write_regions(runner.folders.regions, name, regions, replace=True, progress=progress)
    mine_dataset(store, name, MiningOptions(max_size=2), max_cliques=10_000, progress=progress)
