"""The datasets in a store: what each holds, whether it is whole, drop and rename."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from graph.database import schema
from graph.database.declarations import DATASET
from graph.database.store import GraphStore
from graph.errors import (
    Action,
    DatasetExistsError,
    DatasetNotFoundError,
    OptionError,
    StaleError,
    StoreError,
)
from graph.progress import Progress, silent

MAX_NAME = 200  # characters

# Dependants first, so that a drop that is interrupted leaves nothing that points nowhere. Only a
# job goes before what belongs to it: what workers write, they write under a lock on their job, so
# that nothing is written for one that is gone, and a rename reaches all that was written before.
_DROP_ORDER = (
    *schema.JOB_NODES,
    schema.GENERATION_QUERY,
    schema.PLAN,
    *schema.COPIES,
    schema.CLIQUE,
    schema.IMAGE,
    schema.CONCEPT,
    schema.CLASS,
)


@dataclass(frozen=True)
class DatasetState:
    """What the store records of a dataset.

    Parameters
    ----------
    name : str
        Unique in the store.
    digest : int or None
        Digest of all images; None while an ingest is under way or was interrupted.
    cooccurrence_digest, cliques_digest : int or None
        The digest of the images that the concept graph and the cliques were counted from.
    mining : str or None
        The options that the cliques were mined with, as JSON.
    mined_classes : tuple of (str, int)
        The classes that were mined, by name in ascending order, each with its images that were.
    renaming_to : str or None
        The new name, while a rename is under way or was interrupted.
    """

    name: str
    digest: int | None
    cooccurrence_digest: int | None
    cliques_digest: int | None
    mining: str | None
    mined_classes: tuple[tuple[str, int], ...]
    renaming_to: str | None

    @property
    def mined_as(self) -> str:
        """Names the images and options of the cliques that are there; a plan remembers it."""
        return f"{self.cliques_digest} {self.mining}"

    def require_complete(self) -> None:
        """Raise unless every image is there and the concept graph counts them."""
        if self.renaming_to is not None:
            raise StaleError(
                f"A rename of {self.name!r} to {self.renaming_to!r} did not end. ",
                Action("rename_dataset", self.name, self.renaming_to),
                " again.",
            )
        if self.digest is None or self.cooccurrence_digest != self.digest:
            raise StaleError(
                f"Loading the images of {self.name!r} did not end. ",
                Action("ingest", ..., dataset=self.name),
                " with the same file again: it goes on where it stopped.",
            )

    def require_mined(self) -> None:
        """Raise unless the cliques were mined from the images that are there now."""
        self.require_complete()
        if self.cliques_digest != self.digest:
            reason = (
                "has not been mined yet"
                if self.mining is None
                else "has changed since it was mined"
            )
            raise StaleError(f"{self.name!r} {reason}. ", Action("mine", self.name), ".")


def check_name(name: str) -> None:
    """Raise OptionError unless `name` can name a dataset."""
    if not name.strip() or name != name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise OptionError(
            f"{name!r} cannot name a dataset. A name has 1 to {MAX_NAME} printable characters and "
            "no space at either end."
        )


def dataset_state(store: GraphStore, name: str) -> DatasetState:
    """Read what the store records of a dataset.

    Raises
    ------
    DatasetNotFoundError
        There is none of that name; the message lists those there are.
    """
    state = find_dataset(store, name)
    if state is None:
        names = [row["name"] for row in store.read("MATCH (d:Dataset) RETURN d.name AS name")]
        known = f"The store has: {', '.join(sorted(names))}." if names else "The store is empty."
        raise DatasetNotFoundError(
            f"No dataset {name!r}. {known} ",
            Action("ingest", ..., dataset=name),
            ".",
        )
    return state


def find_dataset(store: GraphStore, name: str) -> DatasetState | None:
    """Read what the store records of a dataset, or None where it has none of that name."""
    rows = store.read(
        "MATCH (d:Dataset {name: $name}) "
        "RETURN d.name AS name, d.digest AS digest, d.cooccurrence_digest AS cooccurrence_digest, "
        "d.cliques_digest AS cliques_digest, d.mining AS mining, d.renaming_to AS renaming_to, "
        "coalesce(d.mined_classes, []) AS classes, coalesce(d.mined_images, []) AS images",
        name=name,
    )
    if not rows:
        return None
    row = rows[0]
    mined = tuple(zip(row.pop("classes"), row.pop("images"), strict=True))
    return DatasetState(**row, mined_classes=mined)


def class_sizes(store: GraphStore, dataset: str) -> dict[str, int]:
    """Images of each class, by name in ascending order."""
    rows = store.read(
        "MATCH (y:Class {dataset: $dataset}) "
        "RETURN y.name AS name, COUNT { (y)<-[:LABELED]-() } AS images",
        dataset=dataset,
    )
    return {row["name"]: row["images"] for row in sorted(rows, key=lambda row: str(row["name"]))}


def concept_names(store: GraphStore, dataset: str) -> list[str]:
    """The dataset's concepts, in ascending order."""
    rows = store.read(
        "MATCH (c:Concept {dataset: $dataset}) RETURN c.name AS name", dataset=dataset
    )
    return sorted(row["name"] for row in rows)


def split_sizes(store: GraphStore, dataset: str) -> dict[str | None, int]:
    """Images of each split, by name in ascending order; of none (None) last."""
    rows = store.read(
        "MATCH (i:Image {dataset: $dataset}) RETURN i.split AS split, count(*) AS images "
        "ORDER BY split",
        dataset=dataset,
    )
    return {row["split"]: row["images"] for row in rows}


def foreign_images(store: GraphStore, dataset: str, ids: Sequence[str]) -> int:
    """How many images a dataset has if none of them is among `ids`, or else 0.

    Also 0 where there is no such dataset. It takes a look-up in an index for each of `ids`, until
    one is found.
    """
    (row,) = store.read(
        "RETURN EXISTS { UNWIND $ids AS id MATCH (:Image {dataset: $dataset, id: id}) } AS known, "
        "COUNT { MATCH (:Image {dataset: $dataset}) } AS images",
        dataset=dataset,
        ids=list(ids),
    )
    return 0 if row["known"] else int(row["images"])


def claim(store: GraphStore, name: str) -> str:
    """Become the dataset's writer, and return the token that every write of nodes shows.

    The latest claim wins: an older writer's next batch fails, whether its process lives or not.
    """
    token = uuid.uuid4().hex
    store.write("MATCH (d:Dataset {name: $name}) SET d.writer = $token", name=name, token=token)
    return token


def finish(store: GraphStore, name: str, writer: str, *, spoils: str, **values: object) -> None:
    """Record what a writer has completed, and let go of the claim.

    Parameters
    ----------
    spoils : str
        The digest that two writers at once make meaningless: ``digest`` or ``cliques_digest``.
    **values
        Properties of the dataset to set.

    Raises
    ------
    StoreError
        Another process has claimed or dropped the dataset meanwhile. What they both wrote is then
        marked, so that no number is shown before a run that nobody disturbs.
    """
    finished = store.write(
        "MATCH (d:Dataset {name: $name, writer: $writer}) SET d += $values, d.writer = null "
        "RETURN d.name",
        name=name,
        writer=writer,
        values=values,
    )
    if not finished:
        raise invalidate(store, name, spoils)


def invalidate(store: GraphStore, name: str, spoils: str) -> StoreError:
    """Mark what two writers at once have spoilt, and give the error to raise."""
    store.write(
        "MATCH (d:Dataset {name: $name}) SET d += $spoiled", name=name, spoiled={spoils: None}
    )
    return StoreError(
        f"Another process has written or dropped {name!r} at the same time. Run the command again "
        "when the other one has ended."
    )


def drop_dataset(store: GraphStore, name: str, progress: Progress = silent) -> None:
    """Delete a dataset and all that belongs to it; interrupted, it goes on when run again."""
    state = dataset_state(store, name)
    store.write(
        "MATCH (d:Dataset {name: $name}) SET d.digest = null, d.cooccurrence_digest = null, "
        "d.cliques_digest = null, d.writer = null",
        name=name,
    )
    names = [held for held in (name, state.renaming_to) if held is not None]
    for done, node in enumerate(_DROP_ORDER):
        progress("drop", done, len(_DROP_ORDER))
        store.write_in_batches(
            f"UNWIND $names AS name MATCH (n:{node.label} {{{DATASET}: name}}) "
            "CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS",
            names=names,
        )
    store.write("MATCH (d:Dataset {name: $name}) DELETE d", name=name)
    progress("drop", len(_DROP_ORDER), len(_DROP_ORDER))


def rename_dataset(store: GraphStore, name: str, new: str, progress: Progress = silent) -> None:
    """Rename a dataset; interrupted, it goes on when run again with the same names.

    Raises
    ------
    DatasetExistsError
        The new name is taken.
    """
    check_name(new)
    state = dataset_state(store, name)
    if state.renaming_to not in (None, new):
        state.require_complete()
    if new == name:
        return
    taken = store.write(
        "MATCH (d:Dataset {name: $name}) "
        "OPTIONAL MATCH (other:Dataset) "
        "WHERE other <> d AND (other.name = $new OR other.renaming_to = $new) "
        "WITH d, count(other) AS taken "
        "SET d.renaming_to = CASE taken WHEN 0 THEN $new ELSE d.renaming_to END "
        "RETURN taken",
        name=name,
        new=new,
    )[0]["taken"]
    if taken:
        raise DatasetExistsError(
            f"A dataset {new!r} exists already. Choose another name, or ",
            Action("drop_dataset", new),
            " first.",
        )
    for done, node in enumerate(_DROP_ORDER):
        progress("rename", done, len(_DROP_ORDER))
        store.write_in_batches(
            f"MATCH (n:{node.label} {{{DATASET}: $name}}) "
            f"CALL (n) {{ SET n.{DATASET} = $new }} IN TRANSACTIONS OF 5000 ROWS",
            name=name,
            new=new,
        )
    store.write(
        "MATCH (d:Dataset {name: $name}) SET d.name = $new, d.renaming_to = null",
        name=name,
        new=new,
    )
    progress("rename", len(_DROP_ORDER), len(_DROP_ORDER))


def list_datasets(store: GraphStore) -> pd.DataFrame:
    """Give every dataset with its sizes and state, in order of name.

    Returns
    -------
    pandas.DataFrame
        ``dataset``, ``images``, ``classes``, ``concepts``, ``cliques``, ``state`` (``ready``,
        ``not mined``, ``changed since mined`` or ``interrupted``), ``updated_at``, ``source``.
    """
    return store.read_frame(
        """
MATCH (d:Dataset)
RETURN d.name AS dataset, coalesce(d.images, 0) AS images,
       COUNT { MATCH (:Class {dataset: d.name}) } AS classes,
       COUNT { MATCH (:Concept {dataset: d.name}) } AS concepts,
       COUNT { MATCH (:Clique {dataset: d.name}) } AS cliques,
       CASE WHEN d.renaming_to IS NOT NULL OR d.digest IS NULL
                 OR coalesce(d.cooccurrence_digest <> d.digest, true) THEN 'interrupted'
            WHEN d.cliques_digest = d.digest THEN 'ready'
            WHEN d.mining IS NULL THEN 'not mined'
            ELSE 'changed since mined' END AS state,
       substring(toString(d.updated_at), 0, 16) + 'Z' AS updated_at, d.source AS source
ORDER BY dataset"""
    )
