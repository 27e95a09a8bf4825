"""Object similarity filter: F1 of the objects detected in an image and its source, to rank by."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pydantic import Field

from cobalance.base import join_names, readable
from cobalance.generation.filters.filter import (
    FilterPlugin,
    Judgement,
    describe_score,
    vocabulary_sha256,
    without_source,
)
from cobalance.generation.image_request import GeneratedImage, ImageRequest
from cobalance.vision import Detector, DetectorOptions, ImageArray, open_detector, sha256_of

MAX_SOURCES = 1024
"""Sources whose objects are remembered; the one that was not used for longest is forgotten."""


class SameObjectsOptions(DetectorOptions):
    """Detector, vocabulary and threshold of the filter.

    Parameters
    ----------
    vocabulary : tuple of str
        The names that are searched for: the concepts of the dataset, where a job does not set them.
    min_f1 : float or None
        The least F1, from 0 to 1; None accepts every image, for a recipe that only ranks.
        ``threshold`` is the detector's.
    """

    vocabulary: tuple[str, ...] = ()
    min_f1: float | None = Field(default=None, ge=0, le=1)


PLUGIN = FilterPlugin(
    "same_objects",
    "A detector finds the same objects in the image as in its source: for ranking.",
    extra="models",
    options=SameObjectsOptions,
    licence="Apache-2.0",
    takes_vocabulary=True,
    says=lambda found, options: describe_score(
        found.score,
        options.min_f1,
        enough="Objects like its source's",
        too_little="Objects unlike its source's",
        measured="Likeness to its source's objects (F1)",
    ),
)


@dataclass(frozen=True, eq=False)
class SameObjectsFilter:
    """Scores images by how many detected objects they share with their source.

    The score is F1 of the two sets of names ([1]_, equation 5), from 0 to 1. The details have the
    names that are in both, those that the source alone has (``lost``), and those that the image
    alone has (``added``). An image without a source is rejected with a score of 0.

    The paper does not say what is compared, nor with which threshold. Here it is sets of names,
    whatever the number and place of the objects; a name is found where one box reaches the
    detector's threshold, which is recorded. Where neither image has any, F1 is 1, which it always
    is for a dataset without concepts. The paper's detector is Detic; here it is OWLv2 (weights
    under the Apache-2.0 licence) with the dataset's concepts.

    References
    ----------
    .. [1] *Resampled Datasets Are Not Enough* (2024), section 2.2, equation 5.
    """

    options: SameObjectsOptions
    detector: Detector
    _sources: OrderedDict[str, frozenset[str]] = field(default_factory=OrderedDict, repr=False)

    def judge(
        self, requests: Sequence[ImageRequest], made: Sequence[GeneratedImage]
    ) -> list[Judgement]:
        """Judge a batch; sources that earlier batches had are not looked at again."""
        compared = [
            (request.source.image, generated.image)
            for request, generated in zip(requests, made, strict=True)
            if request.source is not None
        ]
        in_sources = self._find_in_sources([source for source, _ in compared])
        in_images = self._find([image for _, image in compared])

        judged = map(self._judge, in_sources, in_images)
        return [
            without_source("same_objects") if request.source is None else next(judged)
            for request in requests
        ]

    def describe(self) -> Mapping[str, Any]:
        """The settings, and the model with its weights."""
        described = self.detector.describe()
        settings = {
            "min_f1": self.options.min_f1,
            "vocabulary_sha256": vocabulary_sha256(self.options.vocabulary),
        }
        return {"filter": "same_objects", **described, "settings": described["settings"] | settings}

    def _find(self, images: Sequence[ImageArray]) -> list[frozenset[str]]:
        """The names that are found in each image."""
        names = self.options.vocabulary
        scores = self.detector.best_scores(images, names).astype(np.float64)
        return [
            frozenset(names[column] for column in (row >= self.options.threshold).nonzero()[0])
            for row in scores
        ]

    def _find_in_sources(self, images: Sequence[ImageArray]) -> list[frozenset[str]]:
        """The names in each source, which is known by its pixels."""
        digests = list(map(sha256_of, images))
        new = {
            digest: image
            for digest, image in zip(digests, images, strict=True)
            if digest not in self._sources
        }
        self._sources.update(zip(new, self._find(list(new.values())), strict=True))

        objects = [self._sources[digest] for digest in digests]
        for digest in digests:
            self._sources.move_to_end(digest)
        while len(self._sources) > MAX_SOURCES:
            self._sources.popitem(last=False)
        return objects

    def _judge(self, source: frozenset[str], image: frozenset[str]) -> Judgement:
        """Judge an image by the objects in it and in its source."""
        score = f1_of_names(image, source)
        lost, added = sorted(source - image), sorted(image - source)
        details = {"both": sorted(source & image), "lost": lost, "added": added}

        least, reason = self.options.min_f1, ""
        if least is not None and score < least:
            changes = [
                f"{change} {join_names(list(map(readable, names)))}"
                for change, names in (("lost", lost), ("added", added))
                if names
            ]
            reason = (
                f"The image does not show what its source shows: F1 is {score:.3f}, less than "
                f"{least:g}; it has {' and '.join(changes)}."
            )
        return Judgement(score, reason, details)


def f1_of_names(found: Set[str], expected: Set[str]) -> float:
    """F1 of two sets of names, from 0 to 1: 1 for equal sets, also for empty ones.

    Examples
    --------
    >>> f1_of_names({"chair", "dog"}, {"chair", "cup", "dog", "sofa"})
    0.6666666666666666
    >>> f1_of_names(set(), set()), f1_of_names(set(), {"dog"})
    (1.0, 0.0)
    """
    n = len(found) + len(expected)
    return 2 * len(found & expected) / n if n else 1.0


def open_filter(options: SameObjectsOptions) -> SameObjectsFilter:
    """Open the filter and load its detector; see `cobalance.base.registry.Plugins`."""
    return SameObjectsFilter(options, open_detector(options))
