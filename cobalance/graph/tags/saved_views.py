"""Saved views: links of pages under names, kept with their dataset."""

import pandas as pd

from cobalance.base import ConflictError, DataError, clean_name
from cobalance.graph.database import GraphStore
from cobalance.graph.dataset import check_name, dataset_state
from cobalance.graph.tags import statements

MAX_QUERY = 20_000  # characters


def save_view(
    store: GraphStore, dataset: str, view: str, page: str, query: str, *, by: str = ""
) -> None:
    """Save a page's link under a name; an earlier view of that name is replaced.

    Parameters
    ----------
    page, query : str
        The page's path, and the link's parameters but for the dataset, which may be renamed.

    Raises
    ------
    OptionError, DataError
        No view can have this name; the link is too long.
    """
    view = clean_name(view)
    check_name(view, "view")
    dataset_state(store, dataset)
    if len(query) > MAX_QUERY:
        raise DataError(
            f"The link has {len(query):,} characters, and a saved one {MAX_QUERY:,} at most. "
            "Select fewer combinations."
        )
    store.write(statements.SAVE_VIEW, dataset=dataset, view=view, page=page, query=query, by=by)


def list_views(store: GraphStore, dataset: str) -> pd.DataFrame:
    """List by name: ``view``, ``page``, ``query``, ``created_by``, ``created_at``."""
    return store.read_frame(statements.SAVED_VIEWS, dataset=dataset, utc="Z")


def rename_view(store: GraphStore, dataset: str, view: str, new: str) -> None:
    """Rename a saved view.

    Raises
    ------
    OptionError, ConflictError
        No view can have the new name; another one has it, or the view is gone.
    """
    new = clean_name(new)
    check_name(new, "view")
    if new != view and not store.write(statements.RENAME_VIEW, dataset=dataset, view=view, new=new):
        raise ConflictError(f"There is a view {new!r} already, or {view!r} is gone. Look again.")


def delete_view(store: GraphStore, dataset: str, view: str) -> None:
    """Delete a saved view, if it exists."""
    store.write(statements.DELETE_VIEW, dataset=dataset, view=view)
