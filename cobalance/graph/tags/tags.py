"""Tags and notes of images; `applying` makes counts follow them."""

from collections.abc import Sequence
from typing import get_args

import pandas as pd

from cobalance.base import OptionError, check_known, clean_name
from cobalance.graph.database import GraphStore, Statement
from cobalance.graph.database.sync import EDGE_BATCH, batches
from cobalance.graph.dataset import check_name, dataset_state
from cobalance.graph.tags import statements
from cobalance.graph.tags.roles import TagRole

_UTC = "Z"


def tag_images(
    store: GraphStore, dataset: str, tag: str, ids: Sequence[str], *, by: str = ""
) -> int:
    """Give images a tag, which is made if it does not exist; return how many have been named.

    Counts stay as they are, whatever the tag does: `cobalance.graph.tags.applying.apply_tags`
    changes them.

    Raises
    ------
    OptionError
        No tag can have this name, or the dataset has no such image; nothing is written.
    """
    tag = clean_name(tag)
    check_name(tag, "tag")
    _require_images(store, dataset, ids)

    return _in_batches(
        store, statements.TAG_IMAGES, ids, dataset=dataset, tag=tag, role="tag", by=by
    )


def untag_images(store: GraphStore, dataset: str, tag: str, ids: Sequence[str]) -> int:
    """Take a tag from images; return how many had it.

    Raises
    ------
    OptionError
        The dataset has no such tag or image.
    """
    tag = _require_tag(store, dataset, tag)
    _require_images(store, dataset, ids)
    return _in_batches(store, statements.UNTAG_IMAGES, ids, dataset=dataset, tag=tag)


def set_role(store: GraphStore, dataset: str, tag: str, role: TagRole) -> None:
    """Set the role of a tag: ``tag``, ``concept`` or ``exclude``.

    Raises
    ------
    UnknownNameError
        The dataset has no such tag, or there is no such role.
    OptionError
        The graph keeps a sample of the dataset's images, and the role would change counts.
    """
    check_known("role", [role], get_args(TagRole))
    tag = _require_tag(store, dataset, tag)

    if role != "tag":
        dataset_state(store, dataset).require_all_images("A tag that changes counts")
    store.write(statements.SET_ROLE, dataset=dataset, tag=tag, role=role)


def delete_tag(store: GraphStore, dataset: str, tag: str) -> None:
    """Delete a tag, and take it from its images; raises UnknownNameError."""
    tag = _require_tag(store, dataset, tag)
    store.write(statements.DELETE_TAG, dataset=dataset, tag=tag)


def list_tags(store: GraphStore, dataset: str) -> pd.DataFrame:
    """List a dataset's tags by name.

    Returns
    -------
    pandas.DataFrame
        ``tag``, ``role``, ``images`` (that have it), ``shown`` (that show it as a concept, whether
        by the tag or before it), ``left_out``, ``created_by``, ``created_at``.
    """
    dataset_state(store, dataset)
    return store.read_frame(statements.TAGS, dataset=dataset, utc=_UTC)


def images_of_tag(store: GraphStore, dataset: str, tag: str) -> pd.DataFrame:
    """List the images with a tag: ``image``, ``class``, ``left_out``, ``tagged_by``, ``tagged_at``.

    Raises
    ------
    UnknownNameError
        The dataset has no such tag.
    """
    tag = _require_tag(store, dataset, tag)
    return store.read_frame(statements.IMAGES_OF_TAG, dataset=dataset, tag=tag, utc=_UTC)


def marks_of_images(store: GraphStore, dataset: str, ids: Sequence[str]) -> pd.DataFrame:
    """Tags and note of images, in the order given: ``id``, ``tags`` (a list), ``note`` or None."""
    rows = store.read(statements.MARKS_OF_IMAGES, dataset=dataset, ids=list(ids))
    return pd.DataFrame(rows, columns=["id", "tags", "note"], dtype=object)


def write_note(store: GraphStore, dataset: str, image: str, text: str, *, by: str = "") -> None:
    """Replace the note on an image; an empty text deletes it.

    Raises
    ------
    OptionError
        The dataset has no such image.
    """
    _require_images(store, dataset, [image])

    if text.strip():
        store.write(statements.WRITE_NOTE, dataset=dataset, id=image, note=text.strip(), by=by)
    else:
        store.write(statements.DELETE_NOTE, dataset=dataset, id=image)


def list_notes(store: GraphStore, dataset: str) -> pd.DataFrame:
    """List notes by image: ``image``, ``note``, ``written_by``, ``written_at``."""
    dataset_state(store, dataset)
    return store.read_frame(statements.NOTES, dataset=dataset, utc=_UTC)


def _require_tag(store: GraphStore, dataset: str, tag: str) -> str:
    tag = clean_name(tag)
    check_known("tag", [tag], list_tags(store, dataset)["tag"].tolist())
    return tag


def _require_images(store: GraphStore, dataset: str, ids: Sequence[str]) -> None:
    dataset_state(store, dataset)
    for batch in batches(ids, EDGE_BATCH):
        for row in store.read(statements.UNKNOWN_IMAGES, dataset=dataset, ids=list(batch)):
            raise OptionError(f"{dataset!r} has no image {row['id']!r}. Nothing was written.")


def _in_batches(store: GraphStore, write: Statement, ids: Sequence[str], **values: str) -> int:
    """Run a write on images, each once; return how many it has written."""
    unique = list(dict.fromkeys(ids))
    written = 0
    for batch in batches(unique, EDGE_BATCH):
        (row,) = store.write(write, ids=batch, **values)
        written += row["written"]
    return written
