"""Labelled images, as training methods and learners take them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cobalance.base import DataError

IntArray = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Examples:
    """Labelled images to train on, to select a model by, or to test it with.

    Parameters
    ----------
    ids : sequence of str
        Image ids.
    labels : int64 array, shape (n_images,), or (n_images, n_classes)
        Index in `classes`; with several labels an image, 0 or 1 for each class.
    groups : int64 array, shape (n_images,)
        Group of class and shortcuts, from 0; -1 where unknown. Methods that need groups refuse it.
    domains : int64 array, shape (n_images,)
        Value of the shortcut or attribute alone, from 0; -1 where unknown.
    classes : sequence of str
        In the order of the labels; the same for training and test.
    read : callable
        Takes row indices and returns their pixels, one uint8 array (height, width, 3) each.
    group_names, domain_names : sequence of str
        What the codes of groups and domains stand for, for messages; empty where unknown.
    whole, rows : Examples and int64 array, or None
        Where these images were taken from, and as which rows, so that what is computed from an
        image is computed once however often its row is taken.
    captions : sequence of sequences of str
        The captions of each image, for models that learn from them; empty where none are known.
    """

    ids: Sequence[str]
    labels: IntArray
    groups: IntArray
    domains: IntArray
    classes: Sequence[str]
    read: Callable[[IntArray], list[Pixels]]
    group_names: Sequence[str] = ()
    domain_names: Sequence[str] = ()
    whole: "Examples | None" = None
    rows: IntArray | None = None
    captions: Sequence[Sequence[str]] = ()

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def several_labels(self) -> bool:
        """Whether an image may have several labels, or none."""
        return self.labels.ndim == 2

    def take(self, rows: IntArray) -> "Examples":
        """The images of some rows, in their order; a row may be taken more than once."""

        def read(taken_rows: IntArray) -> list[Pixels]:
            return self.read(rows[taken_rows])

        # Rows are of the whole, so that what is known of it need not be computed anew.
        return Examples(
            ids=[self.ids[row] for row in rows.tolist()],
            labels=self.labels[rows],
            groups=self.groups[rows],
            domains=self.domains[rows],
            classes=self.classes,
            read=read,
            group_names=self.group_names,
            domain_names=self.domain_names,
            whole=self if self.whole is None else self.whole,
            rows=rows if self.rows is None else self.rows[rows],
            captions=[self.captions[row] for row in rows.tolist()] if self.captions else (),
        )

    def require_groups(self, what: str) -> IntArray:
        """The groups; DataError, which begins with their purpose, where one is unknown."""
        return self._check_known(self.groups, what, "group")

    def require_domains(self, what: str) -> IntArray:
        """The domains; DataError, which begins with their purpose, where one is unknown."""
        return self._check_known(self.domains, what, "domain")

    def require_two_classes(self) -> None:
        """Raise DataError unless the images are of two classes or more, or of several each."""
        labels = np.unique(self.labels)
        if len(labels) < 2 and not self.several_labels:
            kind = f"all of the class {self.classes[int(labels[0])]!r}" if len(labels) else "none"
            raise DataError(
                f"The {len(self):,} training images are {kind}; a classifier needs images of two "
                "classes. Give a training set that has them."
            )

    def _check_known(self, codes: IntArray, what: str, kind: str) -> IntArray:
        unknown = np.flatnonzero(codes < 0)
        if len(unknown):
            raise DataError(
                f"{what} needs the {kind} of each image, and that of {len(unknown):,} of "
                f"{len(self):,} is unknown, such as {self.ids[int(unknown[0])]!r}. Name the "
                "shortcuts that make the groups, or choose a method that needs none."
            )
        return codes


def split_rows(rows: IntArray, size: int) -> list[IntArray]:
    """Rows in their order, in batches of a size."""
    return [rows[start : start + size] for start in range(0, len(rows), size)]
