"""Drop and rename datasets; an interrupted operation resumes when it is run again."""

from cobalance.base import Action, ConflictError, Progress, silent
from cobalance.graph.database import GraphStore, schema
from cobalance.graph.database.statements import UPDATE_DATASET, drop_statement, rename_statement
from cobalance.graph.dataset import statements
from cobalance.graph.dataset.state import check_name, dataset_state

# Dependants first, so that an interrupted drop leaves no dangling nodes. Jobs go before their
# queries and candidates: workers write under a lock on their job, so nothing is written for a job
# that is gone, and a rename reaches everything that was written before it. So do evaluations and
# their scores, and studies and audits before their answers. An evaluation belongs to the dataset
# that it was trained on; one that was tested on a dataset outlives it, and is outdated.
_DROP_ORDER = (
    *schema.EVALUATION_NODES,
    *schema.ANNOTATION_NODES,
    *schema.JOB_NODES,
    schema.GENERATION_QUERY,
    schema.PLAN,
    *schema.COPIES,
    schema.CLIQUE,
    *schema.MARK_NODES,
    schema.IMAGE,
    schema.CONCEPT,
    schema.CLASS,
)


def drop_dataset(store: GraphStore, name: str, progress: Progress = silent) -> None:
    """Delete a dataset with everything that belongs to it; if interrupted, run it again."""
    state = dataset_state(store, name)

    # An interrupted drop leaves the dataset marked as incomplete.
    marks = ("digest", "cooccurrence_digest", "cliques_digest", "writer")
    store.write(UPDATE_DATASET, dataset=name, values=dict.fromkeys(marks))
    # An interrupted rename has left nodes under both names.
    names = [name] if state.renaming_to is None else [name, state.renaming_to]

    for done, node in enumerate(_DROP_ORDER):
        progress("drop", done, len(_DROP_ORDER))
        store.write_in_batches(drop_statement(node), names=names)
    store.write(statements.DELETE_DATASET, dataset=name)
    progress("drop", len(_DROP_ORDER), len(_DROP_ORDER))


def rename_dataset(store: GraphStore, name: str, new: str, progress: Progress = silent) -> None:
    """Rename a dataset; if interrupted, run it again with the same names to resume.

    Raises
    ------
    ConflictError
        The new name is taken.
    """
    check_name(new)
    state = dataset_state(store, name)
    if state.renaming_to not in (None, new):
        state.require_complete()
    if new == name:
        return

    (row,) = store.write(statements.TAKE_NAME, dataset=name, new=new)
    if row["taken"]:
        raise ConflictError(
            f"A dataset {new!r} exists already. Choose another name, or ",
            Action("drop_dataset", new),
            " first.",
        )

    for done, node in enumerate(_DROP_ORDER):
        progress("rename", done, len(_DROP_ORDER))
        store.write_in_batches(rename_statement(node), name=name, new=new)
    for statement in (statements.RENAME_EVALUATED, statements.END_RENAME):
        store.write(statement, dataset=name, new=new)
    progress("rename", len(_DROP_ORDER), len(_DROP_ORDER))
