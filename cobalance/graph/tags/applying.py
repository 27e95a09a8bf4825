"""Apply tags to counts: images show them as concepts, or are left out and brought back."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cobalance.base import Progress, agree, inflect, silent
from cobalance.graph.database import GraphStore
from cobalance.graph.database.statements import UPDATE_DATASET
from cobalance.graph.database.sync import batches
from cobalance.graph.dataset import (
    EXCLUDE,
    TAG_SOURCE,
    annotations_of,
    dataset_state,
    read_left_out,
    statements as dataset_statements,
    write_changes,
)
from cobalance.graph.tags import statements

StoredMention = Sequence[Any]
"""Concept, source, score and count, as an edge of the graph has them."""


@dataclass(frozen=True)
class TagChanges:
    """How many images tags have changed, or would change.

    Parameters
    ----------
    changed : int
        That show a concept by a tag now, or show one no more.
    left_out, brought_back : int
        Of counts and exports.
    """

    changed: int = 0
    left_out: int = 0
    brought_back: int = 0

    def __bool__(self) -> bool:
        return bool(self.changed or self.left_out or self.brought_back)

    def describe(self) -> str:
        """Count the images of each change, in words; empty where nothing changes.

        Examples
        --------
        >>> TagChanges(changed=2, left_out=1).describe()
        '2 images change their concepts, 1 image is left out'
        """
        verbs = (
            (self.changed, "changes its concepts", "change their concepts"),
            (self.left_out, "is left out", "are left out"),
            (self.brought_back, "comes back", "come back"),
        )
        parts = []
        for n, singular, plural in verbs:
            if n:
                parts.append(f"{inflect(n, 'images')} {agree(n, singular, plural)}")
        return ", ".join(parts)


def with_tags(mentions: Iterable[StoredMention], tags: Iterable[str]) -> list[StoredMention]:
    """Mentions of an image that has some tags as concepts, and no others by a tag.

    Whatever else mentions a concept wins over a tag.

    Examples
    --------
    >>> with_tags([["cow", "image tag", None, 1], ["sky", "annotation", 0.5, 2]], ["dusk", "sky"])
    [['sky', 'annotation', 0.5, 2], ['dusk', 'image tag', None, 1]]
    """
    merged = [mention for mention in mentions if mention[1] != TAG_SOURCE]
    new_names = {*tags}.difference(concept for concept, *_ in merged)
    merged += [[name, TAG_SOURCE, None, 1] for name in sorted(new_names)]
    return merged


@dataclass(frozen=True)
class _Pending:
    """Images whose counts do not follow their tags yet."""

    left_out: list[str]
    brought_back: list[dict[str, Any]]
    changed: list[str]
    tags: Mapping[str, set[str]]

    @property
    def counts(self) -> TagChanges:
        return TagChanges(len(self.changed), len(self.left_out), len(self.brought_back))


def find_left_out(store: GraphStore, dataset: str) -> set[str]:
    """Ids of images that a tag leaves out, and that are still in the counts."""
    rows = store.read(statements.TO_LEAVE_OUT, dataset=dataset, exclude=EXCLUDE)
    return {row["id"] for row in rows}


def pending_tags(store: GraphStore, dataset: str) -> TagChanges:
    """How many images `apply_tags` would change."""
    dataset_state(store, dataset)
    return _pending(store, dataset).counts


def apply_tags(store: GraphStore, dataset: str, *, progress: Progress = silent) -> TagChanges:
    """Apply a dataset's tags to its counts: add concepts, leave images out, bring them back.

    Tags, notes and annotations of images that are left out stay, and come back with them. Where
    nothing has changed since tags were applied last, nothing is written, and what was mined stays
    valid. Interrupted, load the dataset's file again: its tags are applied then, too.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    OptionError
        The graph keeps a sample of the dataset's images, and tags would change counts.
    StoreError
        Another process writes the same dataset at the same time, or the database fails.
    """
    state = dataset_state(store, dataset)
    pending = _pending(store, dataset)
    if not pending.counts:
        return pending.counts
    state.require_complete("Leaving out images, and concepts by tags,")

    # Concepts of earlier tags stay named until all is written: if this is interrupted, the next
    # call finds the images that show them.
    (row,) = store.read(dataset_statements.DATASET, dataset=dataset)
    former_names = row["dataset"].get("tag_concepts", [])
    names = sorted(set().union(*pending.tags.values()))
    _set(store, dataset, tag_concepts=sorted({*names, *former_names}))

    progress("apply tags", 0, None)
    changed = [*_read_images(store, dataset, pending.changed), *pending.brought_back]
    for image in changed:
        tags = pending.tags.get(image["id"], ())
        image["mentions"] = with_tags(image["mentions"], tags)
    left_out_rows = [
        [image["id"], image["class_name"], json.dumps(image["mentions"])]
        for image in _read_images(store, dataset, pending.left_out)
    ]

    # Counts are not those of the images from here on, until all is written.
    _set(store, dataset, digest=None)
    for batch in batches(left_out_rows):
        store.write(dataset_statements.LEAVE_OUT, dataset=dataset, rows=list(batch))
    loaded = {image["id"]: image["loaded"] or 0 for image in pending.brought_back}
    for ids in batches([*loaded]):
        store.write(dataset_statements.BRING_BACK, dataset=dataset, ids=list(ids))
    incomplete = replace(state, digest=None)
    write_changes(store, incomplete, annotations_of(changed), loaded=loaded, progress=progress)
    _set(store, dataset, tag_concepts=names)
    return pending.counts


def _pending(store: GraphStore, dataset: str) -> _Pending:
    """Find the images whose counts do not follow their tags yet."""
    left_out = find_left_out(store, dataset)
    tags: dict[str, set[str]] = defaultdict(set)
    changed = set()
    for row in store.stream(statements.CONCEPT_TAGS, dataset=dataset, concept="concept"):
        tags[row["id"]].add(row["concept"])
        if row["counted"] and not row["shown"]:
            changed.add(row["id"])
    for row in store.stream(statements.SHOWN_BY_TAG, dataset=dataset, source=TAG_SOURCE):
        if row["concept"] not in tags.get(row["id"], ()):
            changed.add(row["id"])

    brought_back = [image for image in read_left_out(store, dataset) if not image["by_tag"]]
    return _Pending(
        left_out=sorted(left_out),
        brought_back=brought_back,
        changed=sorted(changed - left_out),
        tags=tags,
    )


def _read_images(store: GraphStore, dataset: str, ids: Sequence[str]) -> list[dict[str, Any]]:
    images: list[dict[str, Any]] = []
    for batch in batches(ids):
        images += store.read(dataset_statements.SOME_IMAGES, dataset=dataset, ids=list(batch))
    return images


def _set(store: GraphStore, dataset: str, **values: Any) -> None:
    store.write(UPDATE_DATASET, dataset=dataset, values=values)
