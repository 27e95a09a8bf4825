"""Drop and rename datasets; either goes on where it was interrupted."""

from graph.database import schema
from graph.database.declarations import DATASET
from graph.database.store import GraphStore
from graph.dataset.state import check_name, dataset_state
from graph.errors import Action, DatasetExistsError
from graph.progress import Progress, silent

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
