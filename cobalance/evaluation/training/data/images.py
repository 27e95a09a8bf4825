"""Labelled images of one dataset, as training reads them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from cobalance.base import DataError, Declaration, OptionError

COLUMNS = ("image", "class_name", "concepts", "split", "uri", "synthetic", "source")


@dataclass(frozen=True, eq=False)
class LabelledImages:
    """Images with their labels, and where their files are.

    Parameters
    ----------
    name : str
        The dataset or folder, for messages.
    frame : pandas.DataFrame
        One row an image, index 0..n-1: ``image`` (str, unique), ``class_name`` (str), ``concepts``
        (a list of str), ``split`` and ``uri`` (str or None), ``synthetic`` (bool), and ``source``:
        the image that it was made from, or None. For models that learn from captions,
        ``captions`` (a list of str), too; for partitions of counterfactuals ``changed`` (whether
        an edited image shows another class than its source, or None). The caller warrants the
        columns of `COLUMNS`.
    read : callable
        Takes an address and whether the image is synthetic, returns the file's content.

    Raises
    ------
    DataError
        Two images have one id.
    """

    name: str
    frame: pd.DataFrame
    read: Callable[[str, bool], bytes]

    def __post_init__(self) -> None:
        repeated = self.frame["image"][self.frame["image"].duplicated()]
        if len(repeated):
            raise DataError(
                f"Two images of {self.name!r} have the id {repeated.iloc[0]!r}. Give each one of "
                "its own."
            )

    def __len__(self) -> int:
        return len(self.frame)

    def with_captions(self, texts: pd.DataFrame) -> "LabelledImages":
        """The images with their captions.

        Parameters
        ----------
        texts : pandas.DataFrame
            ``id`` and ``captions`` (a list of str, or None), as
            `cobalance.ingest.captions.image_texts.read_image_texts` gives them.
        """
        captions_by_image = dict(zip(texts["id"], texts["captions"], strict=True))
        captions = [caption_list(captions_by_image.get(image)) for image in self.frame["image"]]
        return replace(
            self, frame=self.frame.assign(captions=pd.Series(captions, self.frame.index, object))
        )

    def where(self, selected: "pd.Series[bool]") -> "LabelledImages":
        """The images for which the series is true."""
        return replace(self, frame=self.frame[selected.to_numpy()].reset_index(drop=True))

    def of_split(self, split: str | None) -> "LabelledImages":
        """The images of a split; all for None.

        Raises
        ------
        OptionError
            There are none.
        """
        if split is None:
            return self

        images = self.where(self.frame["split"] == split)
        if not len(images):
            splits = sorted(set(self.frame["split"].dropna().map(str)))
            raise OptionError(
                f"{self.name!r} has no images of the split {split!r}. Its splits: "
                f"{', '.join(splits) or 'none'}."
            )
        return images

    def require_files(self) -> None:
        """Raise DataError unless each image has an address of its file."""
        without = self.frame["image"][self.frame["uri"].isna()]
        if len(without):
            raise DataError(
                f"{len(without):,} of {len(self):,} images of {self.name!r} have no address of "
                f"their file, such as {without.iloc[0]!r}. Load the dataset with addresses of its "
                "images, or name a split that has them."
            )

    def roots(self) -> list[str]:
        """For each image the one that it was made from in the end; itself where it is real."""
        source_of = dict(zip(self.frame["image"], self.frame["source"], strict=True))
        return [[image, *_ancestors(image, source_of)][-1] for image in self.frame["image"]]


def caption_list(captions: object) -> list[str]:
    """Captions as a list, empty without any.

    Examples
    --------
    >>> caption_list(np.array(["a cat", " "])), caption_list(None)
    (['a cat'], [])
    """
    if isinstance(captions, str) or not isinstance(captions, Iterable):
        return []
    return list(filter(str.strip, map(str, captions)))


def made_from(images: LabelledImages, others: Collection[str]) -> "pd.Series[bool]":
    """Which images were made from one of some others, directly or over further ones."""
    sources = set(others)
    source_of = dict(zip(images.frame["image"], images.frame["source"], strict=True))
    is_derived = [
        not sources.isdisjoint(_ancestors(image, source_of)) for image in images.frame["image"]
    ]
    return pd.Series(is_derived, dtype=np.bool_)


def _ancestors(image: str, source_of: Mapping[str, object]) -> Iterator[str]:
    """Sources of an image, directly or over further ones, the nearest first."""
    # Sources that go round in a circle end the search.
    seen = {image}
    while isinstance(source := source_of.get(image), str) and source not in seen:
        yield source
        seen.add(source)
        image = source


Choice = Callable[[LabelledImages], "pd.Series[bool]"]


@dataclass(frozen=True)
class TrainingSet(Declaration):
    """The declaration of a training set.

    Parameters
    ----------
    choose : callable
        Which images of a dataset it has.
    """

    choose: Choice
