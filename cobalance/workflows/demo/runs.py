"""Folders, queue and earlier jobs of the demonstrations that make images."""

from collections.abc import Mapping
from pathlib import Path

from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.errors import ConflictError, OptionError
from cobalance.graph.jobs.lifecycle import retry_job
from cobalance.graph.jobs.status import list_jobs
from cobalance.workflows.settings import Settings


def output_folder(settings: Settings) -> Path:
    """The folder that images are written to.

    Raises
    ------
    OptionError
        It is not on this machine.
    """
    if "://" in settings.folders().output:
        raise OptionError(
            f"COBALANCE_OUTPUT is {settings.folders().output}; the demonstration writes its "
            "pictures there. Name a folder on this machine."
        )
    return Path(settings.folders().output).expanduser()


def pictures_folder(settings: Settings, name: str) -> Path:
    """The folder of a demonstration's own pictures; their addresses begin with `prefix_of`."""
    return output_folder(settings) / "demo" / name


def prefix_of(name: str) -> str:
    """What the addresses of a demonstration's pictures begin with.

    Examples
    --------
    >>> prefix_of("digits")
    'demo/digits/'
    """
    return f"demo/{name}/"


def queue_url(settings: Settings) -> str:
    """A queue of the demonstrations' own."""
    home = settings.cobalance_home.expanduser().absolute()
    return f"sqlite:///{home / 'demo' / 'queue.sqlite'}"


def check_leftovers(store: GraphStore, made_of: Mapping[str, str]) -> None:
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
    for left, name in made_of.items():
        if find_dataset(store, left) is not None and find_dataset(store, name) is None:
            raise ConflictError(
                f"{left!r} is left from an earlier demonstration, but {name!r} is gone. Drop it, "
                f"too: cobalance datasets drop {left}"
            )


def earlier_job(store: GraphStore, dataset: str, seed: str) -> str | None:
    """The job of an earlier run, which goes on if it has failed or was cancelled; None if none."""
    for earlier in list_jobs(store, dataset):
        if earlier.settings.get("seed") == seed:
            if earlier.state in ("failed", "cancelled"):
                retry_job(store, earlier.id)
            return earlier.id
    return None
