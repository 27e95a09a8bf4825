"""State of a dataset: complete and mined or not."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import pandas as pd

from cobalance.base import (
    Action,
    ConflictError,
    DataError,
    NotFoundError,
    OptionError,
    StaleError,
    clean_name,
    suggest_names,
)
from cobalance.counting import MiningOptions, rest_of
from cobalance.graph.database import GraphStore
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.limits import PER_CLASS

MAX_NAME = 200  # characters


@dataclass(frozen=True)
class Sample:
    """Which images the graph keeps of a dataset whose counts alone it has in full.

    Parameters
    ----------
    per_class : int
        Images of each clique in each class, fewer where fewer show it; 0 where the graph has
        counts alone.
    seed : int
        That chooses them.
    """

    per_class: int = PER_CLASS
    seed: int = 0

    def __post_init__(self) -> None:
        if self.per_class < 0:
            raise OptionError(f"A sample of {self.per_class} images. Keep 0 or more.")


@dataclass(frozen=True)
class DatasetState:
    """State of a dataset as `cobalance.graph.database.schema.DATASET_NODE` records it.

    Parameters
    ----------
    digest : int or None
        None while an ingest is under way or was interrupted.
    digests : int or None
        0 where images have digests of an earlier version; see `cobalance.graph.dataset.renewal`.
    mined_classes : tuple of (str, int)
        The classes that are compared, by name in ascending order, each with its images that were
        mined: the dataset's own, or the first of `compared` and the rest.
    renaming_to, restoring : str or None
        While that is under way or was interrupted.
    sample : Sample or None
        None where the graph has all images.
    images_at : str or None
        As JSON, the files in which all images stay; the graph then has a sample of them.
    files_stamp : str or None
        By which these files are known to be unchanged; None where that is not known.
    own_classes : tuple of (str, int)
        As `mined_classes`, always the dataset's own.
    """

    name: str
    digest: int | None
    cooccurrence_digest: int | None
    cliques_digest: int | None
    mining: str | None
    mined_classes: tuple[tuple[str, int], ...]
    renaming_to: str | None
    restoring: str | None = None
    sample: Sample | None = None
    images_at: str | None = None
    files_stamp: str | None = None
    source: str | None = None
    demo: bool | None = None
    digests: int | None = None
    compared: tuple[str, ...] = ()
    own_classes: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> "DatasetState":
        """Build the state from the properties of a dataset's node."""
        class_names = properties.get("mined_classes", ())
        class_images = properties.get("mined_images", ())
        own_classes = mined_classes = tuple(zip(class_names, class_images, strict=True))

        compared = tuple(properties.get("compared") or ())
        if compared:
            images = properties["compared_images"]
            sizes = {compared[0]: images, rest_of(compared[0]): sum(class_images) - images}
            mined_classes = tuple(sorted(sizes.items()))

        values: dict[str, Any] = {field.name: properties.get(field.name) for field in fields(cls)}
        if values["sample"] is not None:
            values["sample"] = Sample(values["sample"], properties.get("sample_seed", 0))
        values["mined_classes"] = mined_classes
        values["own_classes"] = own_classes
        values["compared"] = compared
        return cls(**values)

    @property
    def mined_as(self) -> str:
        """Identifier of the images and options behind the cliques; stored with plans."""
        return f"{self.cliques_digest} {self.mining}"

    @property
    def is_complete(self) -> bool:
        """Whether all images are written and counted."""
        return self.digest is not None and self.cooccurrence_digest == self.digest

    @property
    def has_images(self) -> bool:
        """Whether the graph has images: all of them, or a sample; not counts alone."""
        return self.sample is None or self.sample.per_class > 0

    @property
    def is_mined(self) -> bool:
        """Whether the cliques were mined from the current images."""
        try:
            self.require_mined()
        except StaleError:
            return False
        return True

    def require_complete(self, whole: str | None = None) -> None:
        """Raise unless all images are loaded and counted; see `require_all_images` for `whole`."""
        if self.renaming_to is not None:
            raise StaleError(
                f"A rename of {self.name!r} to {self.renaming_to!r} did not end. ",
                Action("rename_dataset", self.name, self.renaming_to),
                " again.",
            )

        if self.restoring is not None:
            raise StaleError(
                f"Restoring {self.name!r} from a backup did not end. ",
                Action("restore", ...),
                " with the same file again.",
            )

        if not self.is_complete:
            raise StaleError(
                f"Loading the images of {self.name!r} did not end. ",
                Action("ingest", ..., dataset=self.name),
                " with the same file again: it goes on where it stopped.",
            )

        if whole is not None:
            self.require_all_images(whole)

    def require_mined(self) -> None:
        """Raise unless the cliques were mined from the current images."""
        self.require_complete()
        if self.cliques_digest == self.digest:
            return

        is_new = self.mining is None
        reason = "has not been mined yet" if is_new else "has changed since it was mined"
        raise StaleError(f"{self.name!r} {reason}. ", Action("mine", self.name), ".")

    def require_own_classes(self, what: str) -> None:
        """Raise where it is compared by concepts, and the work (``"Planning"``) needs classes."""
        if self.compared:
            raise DataError(
                f"{what} takes the classes of {self.name!r}, which is compared by "
                f"{self.compared[0]!r}. To compare its classes, ",
                Action("mine", self.name, classes=()),
                ".",
            )

    def require_all_images(self, what: str) -> None:
        """Raise unless the graph has all images; `what` needs them ("Exporting")."""
        if self.sample is None:
            return
        kept = "its counts alone"
        if self.has_images:
            kept = f"a sample of them: {self.sample.per_class:,} of each clique and class"
        raise DataError(
            f"{what} takes all images of {self.name!r}, and the graph keeps {kept}. Load them all "
            "into another dataset."
        )

    def mining_options(self, **given: Any) -> MiningOptions:
        """Options of the last mining, or the defaults, with those given in their place."""
        return replace(MiningOptions.from_json(self.mining), **given)


def check_name(name: str, what: str = "dataset") -> None:
    """Raise OptionError unless `name` is a valid name of a dataset or plan."""
    if not name or name != clean_name(name) or len(name) > MAX_NAME or not name.isprintable():
        raise OptionError(
            f"{name!r} cannot name a {what}. A name has 1 to {MAX_NAME} printable characters and "
            "no space at either end."
        )


def dataset_state(store: GraphStore, name: str, *, may_load: bool = True) -> DatasetState:
    """Read the state of a dataset.

    Raises
    ------
    NotFoundError
        There is none of that name; the message lists those there are, and unless `may_load` is
        false how to load it.
    """
    state = find_dataset(store, name)
    if state is not None:
        return state

    names = sorted(row["name"] for row in store.read(statements.DATASET_NAMES))
    existing = suggest_names(name, names, "The store has") if names else "The store is empty."
    remedy = (" ", Action("ingest", ..., dataset=name), ".") if may_load else ()
    raise NotFoundError("dataset", name, existing, *remedy)


def find_dataset(store: GraphStore, name: str) -> DatasetState | None:
    """Read the state of a dataset, or None if the store has none of that name."""
    rows = store.read(statements.DATASET, dataset=name)
    return state_of(store, rows[0]["dataset"]) if rows else None


def state_of(store: GraphStore, properties: Mapping[str, Any]) -> DatasetState:
    """The state in a dataset's properties, as `GraphStore.reading` has them read."""
    return DatasetState.of({**properties, **store.read_as.get(properties["name"], {})})


def list_datasets(store: GraphStore) -> pd.DataFrame:
    """List all datasets with their sizes and states, by name.

    Returns
    -------
    pandas.DataFrame
        ``dataset``, ``images``, ``classes``, ``concepts``, ``cliques``, ``state`` (``ready``,
        ``not mined``, ``changed since mined`` or ``interrupted``), ``updated_at``, ``source``,
        ``demo`` (whether a demonstration made it).
    """
    return store.read_frame(statements.DATASETS)


def busy_dataset(*names: str) -> ConflictError:
    """Error of a write that finds a dataset being dropped, renamed or loaded."""
    return ConflictError(
        f"{' or '.join(map(repr, names))} is being dropped, renamed or loaded. Do this again when "
        "that has ended."
    )
