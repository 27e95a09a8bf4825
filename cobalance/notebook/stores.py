"""Connect to a graph database, which keeps datasets, plans and jobs."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace as changed
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from cobalance.base import (
    OptionError,
    Progress,
    clean_name,
    first_fault,
    inflect,
    map_optional,
    mask_credentials,
    render,
    silent,
    text_if,
)
from cobalance.graph import (
    GraphStore,
    IfExists,
    Sample,
    dataset_state,
    encryption,
    list_datasets,
    read_job,
    saved_queries,
)
from cobalance.notebook.announcing import open_progress
from cobalance.notebook.data import FRAME, Data, read
from cobalance.notebook.datasets import Dataset, Questions, job_of
from cobalance.notebook.display import Result
from cobalance.notebook.jobs import Job
from cobalance.notebook.remedies import in_python, speaks_python
from cobalance.workflows import (
    Backup,
    Connection,
    Settings,
    back_up,
    connection,
    default_dataset_name,
    drop_dataset,
    find_images,
    load_dataset,
    open_store,
    restore,
)


@dataclass(frozen=True, eq=False, repr=False)
class Store(Questions, Result, AbstractContextManager["Store"]):
    """A graph database with its datasets, plans and jobs.

    ``store["cars"]`` is a dataset, ``"cars" in store`` asks whether it is there, and iterating
    gives the names. Use it as a context manager, or close it.

    Parameters
    ----------
    graph : GraphStore
        The open connection.
    settings : Settings
        Where images, boxes and outlines, the queue and generated images are.
    progress : Progress
        Called with the progress of long operations.
    """

    graph: GraphStore
    settings: Settings
    progress: Progress = silent

    def load(
        self,
        data: Data | str | Path | pd.DataFrame,
        name: str | None = None,
        *,
        if_exists: IfExists = "fail",
        sample: int | None = None,
        seed: int = 0,
    ) -> Dataset:
        """Load annotations into a dataset.

        Loading the same again changes nothing; a changed version of a file, or a longer one, brings
        its images up to date, as ``cobalance ingest`` does. The dataset's `remarks` say how many of
        the image files are found. Where they are beside the annotations, or in ``images`` there,
        that folder is kept for everything that uses this home.

        Parameters
        ----------
        data : Data, str, Path or DataFrame
            From `read`, or what it takes.
        name : str, optional
            The dataset; by default named like the file.
        if_exists : {"fail", "append", "replace"}
            What to do with images of another source than the dataset's, which are those that share
            no id with it, or that say something else of what they share under another name or
            none: ``append`` adds them, if no id is taken; ``replace`` has the dataset hold `data`
            alone.
        sample : int, optional
            Keep every count in the graph, but only so many images of each clique and class; by
            default all images.
        seed : int
            That chooses them.

        Raises
        ------
        InputError, OptionError, StoreError
            The file or the name cannot be used, or the database fails.
        ConflictError
            The dataset holds images of another source.
        """
        if not isinstance(data, Data):
            data = read(data)
        dataset = default_dataset_name(data.source or FRAME) if name is None else clean_name(name)
        folders, annotations = self.settings.folders(), data.annotations
        load_dataset(
            self.graph,
            folders,
            dataset,
            annotations,
            None if sample is None else Sample(sample, seed),
            source=data.source,
            if_exists=if_exists,
            progress=self.progress,
        )

        append = if_exists == "append"
        images = find_images(
            folders, dataset, annotations, data.file, append=append, progress=self.progress
        )
        remarks = (render(images.describe(), in_python),) if images.named else ()
        return changed(self[dataset], remarks=remarks)

    def datasets(self) -> pd.DataFrame:
        """A row a dataset: sizes, state (such as ``ready`` or ``not mined``), source."""
        return list_datasets(self.graph)

    @property
    def frame(self) -> pd.DataFrame:
        """The datasets."""
        return self.datasets()

    def drop(self, name: str) -> None:
        """Delete a dataset with its plans and jobs; raises NotFoundError for an unknown name."""
        drop_dataset(self.graph, self.settings.folders(), clean_name(name), self.progress)

    @property
    def connection(self) -> Connection:
        """For any other Neo4j driver: `uri`, `auth`, `database`, and the `password_file`."""
        return connection(self.settings, self.graph)

    def backup(self, path: str | Path, *datasets: str, with_generated: bool = False) -> Backup:
        """Write datasets, by default all, and all that was done with them to one file.

        The store stays in use, and an earlier file stays until the new one is whole.

        Parameters
        ----------
        with_generated : bool
            Also the images, masks and models that workers have made.
        """
        return back_up(
            self.graph,
            self.settings.folders(),
            Path(path).expanduser(),
            list(map(clean_name, datasets)),
            with_generated=with_generated,
            progress=self.progress,
        )

    def restore(self, path: str | Path, *datasets: str, replace: bool = False) -> Backup:
        """Write datasets of a backup, by default all, to this store; interrupted, run it again.

        Parameters
        ----------
        replace : bool
            Drop datasets of the same names first.
        """
        return restore(
            self.graph,
            self.settings.folders(),
            self.settings.queue_url(),
            Path(path).expanduser(),
            list(map(clean_name, datasets)),
            replace=replace,
            progress=self.progress,
        )

    def queries(self) -> pd.DataFrame:
        """The saved queries: name, parameters, purpose."""
        return saved_queries()

    def job(self, job: str) -> Job[Dataset]:
        """A job by its id; raises NotFoundError for an unknown one."""
        read_job(self.graph, job)
        return job_of(self.graph, self.settings, job, self.progress)

    def close(self) -> None:
        """Close the connection; a local server stops by itself some time later."""
        self.graph.close()

    def title(self) -> str:
        """Where it is, and the number of datasets."""
        return f"Store at {self.place()}: {inflect(len(self), 'datasets')}"

    def place(self) -> str:
        """The server's address, and its database, or the folder of a local one."""
        if self.settings.neo4j_uri is None:
            home = self.settings.cobalance_home.expanduser().absolute()
            return f"{self.graph.uri}, the local server of {home}"
        database = text_if(self.graph.database != "neo4j", f", database {self.graph.database}")
        return f"{mask_credentials(self.graph.uri)}{database}"

    def shown(self) -> pd.DataFrame:
        """Datasets without their times."""
        return self.frame.drop(columns=["updated_at", "source", "demo"])

    def __getitem__(self, name: str) -> Dataset:
        name = clean_name(name)
        dataset_state(self.graph, name)
        return Dataset(self.graph, self.settings, name, self.progress)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and clean_name(name) in set(self)

    def __iter__(self) -> Iterator[str]:
        return iter(self.frame["dataset"].tolist())

    def __exit__(self, *_: object) -> None:
        self.close()


@speaks_python
def connect(
    uri: str | None = None,
    *,
    username: str | None = None,
    password: str | None = None,
    database: str | None = None,
    home: str | Path | None = None,
    cache: str | Path | None = None,
    images: str | Path | Sequence[str | Path] | None = None,
    output: str | Path | None = None,
    queue: str | None = None,
    quiet: bool = False,
) -> Store:
    """Connect to a Neo4j server, or start or join a local one of the user's own.

    What is not given is taken from environment variables, as by every command, and the store that
    was opened is named on standard error. A server is given as a whole: with `uri` no NEO4J
    variable counts. With `home` alone it is the local server there, and queue and generated images
    are there, too.

    Parameters
    ----------
    uri : str, optional
        Such as ``bolt://localhost:7687``, with its `password`; by default NEO4J_URI. Without
        either, a local server; the first start downloads about 140 MB.
    username, password, database : str, optional
        Credentials, and the server's database; user and database are ``neo4j`` by default.
    home, cache : str or Path, optional
        Folders of data (of any server: queue, boxes of images) and of downloads; by default
        COBALANCE_HOME and COBALANCE_CACHE, or those of the user.
    images : str, Path or sequence, optional
        Folders, ZIP files and fsspec URLs with the datasets' image files.
    output : str or Path, optional
        Folder or URL of generated images; by default one in `home`.
    queue : str, optional
        URL of the job queue that workers share.
    quiet : bool
        Print neither the store nor the progress of long operations.

    Raises
    ------
    OptionError
        A value cannot be used.
    StoreUnavailableError
        The server does not answer, does not let the user in, or does not start.
    """
    if isinstance(images, str | Path):
        images = (images,)
    arguments: dict[str, Any] = {
        "neo4j_uri": uri,
        "neo4j_username": username,
        "neo4j_password": password,
        "neo4j_database": database,
        "cobalance_home": home,
        "cobalance_cache": cache,
        "cobalance_images": None if images is None else tuple(map(str, images)),
        "cobalance_output": map_optional(str, output),
        "cobalance_queue": queue,
    }

    # Values that are not given come from environment variables.
    settings = _settings({name: value for name, value in arguments.items() if value is not None})
    login = [name for name in ("username", "password", "database") if arguments[f"neo4j_{name}"]]
    if settings.neo4j_uri is None and login:
        raise OptionError(f"{login[0]} is of a server. Give uri=... with it, or set NEO4J_URI.")

    progress = open_progress(quiet=quiet)
    store = Store(open_store(settings, progress), settings, progress)
    if not quiet:
        print(f"Opened {store.place()}.", file=sys.stderr)  # noqa: T201
    return store


def _settings(values: dict[str, Any]) -> Settings:
    """The settings of a call of `connect`: these values, then the environment's."""
    if "neo4j_uri" in values:
        # Raises for text that is no address.
        encryption(values["neo4j_uri"])
        if "neo4j_password" not in values:
            raise OptionError("connect(uri=...) needs password=... with it.")
        values = _SERVER | values
    elif "cobalance_home" in values:
        values = _SERVER | {"neo4j_uri": None} | _IN_HOME | values
    # A file with a password goes before the password itself.
    if values.get("neo4j_password") is not None:
        values["neo4j_password_file"] = None

    try:
        return Settings(**values)
    except ValidationError as error:
        fault = first_fault(error)
        name = fault.place.upper()
        if fault.place in values:
            name = fault.place.partition("_")[2]
        raise OptionError(f"{name} is {fault.value!r}: {fault.reason}.") from error


_SERVER = {
    "neo4j_username": "neo4j",
    "neo4j_password": None,
    "neo4j_password_file": None,
    "neo4j_database": "neo4j",
}
"""The settings of a server, without what variables say of another one."""
_IN_HOME = {"cobalance_output": None, "cobalance_queue": None, "cobalance_queue_file": None}
"""What is in the home unless it is told otherwise."""
