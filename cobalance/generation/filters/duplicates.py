"""Duplicate filter: compare perceptual hashes within a query and with the source images."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from cobalance.base import Image, Options
from cobalance.generation.filters.filter import FilterPlugin, Judgement, RepeatCheck, Said, Scored
from cobalance.generation.image_request import GeneratedImage, ImageRequest
from cobalance.vision import ImageArray


class DuplicatesOptions(Options):
    """Hash size and distance of duplicates.

    Parameters
    ----------
    distance : int
        Images whose hashes differ in so many bits or fewer are the same.
    hash_size : int
        Side of the hash, which has its square in bits: 8 for 64 bits.
    """

    distance: int = Field(default=2, ge=0)
    hash_size: int = Field(default=8, ge=4, le=32, multiple_of=4)


def _says(found: Scored, options: DuplicatesOptions) -> Said:
    # The score of an image that is the first of its query, and has no source.
    if found.score >= options.hash_size**2:
        return Said("Nothing before it that it could repeat")

    enough = found.score > options.distance
    likeness = "Unlike others" if enough else "Much like another"
    return Said(
        f"{likeness}: {found.score:.0f} bits of its hash differ, more than {options.distance} are "
        "needed",
        enough,
    )


PLUGIN = FilterPlugin(
    "duplicates",
    "The image is not nearly the same as another one of its query.",
    extra="worker",
    options=DuplicatesOptions,
    says=_says,
    repeats=RepeatCheck("phash", lambda hashes, options: find_duplicates(hashes, options.distance)),
)

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class DuplicatesFilter:
    """Rejects duplicates of an earlier image of the query, and of the image's own source.

    Images are compared by perceptual hash: the signs of the lowest frequencies of the image at 32
    by 32 pixels, about their median [1]_. The score is the smallest distance in bits to the images
    before it in the batch that were kept, and to its source; the number of bits where there is
    none. Other batches are compared with `find_duplicates`, by the hashes in the details.

    References
    ----------
    .. [1] Zauner, C., *Implementation and benchmarking of perceptual image hash functions* (2010),
       section 3.2, as the package imagehash has it: a transform of type II in both directions, and
       the median of all 64 coefficients with the constant one.
    """

    options: DuplicatesOptions
    phash: Callable[[ImageArray], str]  # in hexadecimal
    version: str  # of imagehash

    def judge(
        self, requests: Sequence[ImageRequest], made: Sequence[GeneratedImage]
    ) -> list[Judgement]:
        """Judge the images in order; quadratic time in the images of a query."""
        accepted: dict[str, list[Words]] = defaultdict(list)
        judgements = []
        for request, generated in zip(requests, made, strict=True):
            of_query = accepted[query_of(request.id)]
            judgement, words = self._judge(request, generated, of_query)
            if judgement.accepted:
                of_query.append(words)
            judgements.append(judgement)
        return judgements

    def describe(self) -> Mapping[str, Any]:
        """The settings, and the hash function."""
        return {
            "filter": "duplicates",
            "hash": "phash",
            "settings": self.options.model_dump(),
            "software": {"imagehash": self.version},
        }

    def _judge(
        self, request: ImageRequest, made: GeneratedImage, accepted: list[Words]
    ) -> tuple[Judgement, Words]:
        """Judge an image, and give its hash: by the accepted ones of its query and its source."""
        text = self.phash(made.image)
        words = _words([text])[0]
        limit = self.options.distance
        # The score of an image with nothing to compare it with: as if all bits differed.
        all_bits = self.options.hash_size**2
        to_source = to_accepted = all_bits
        if request.source is not None:
            source = _words([self.phash(request.source.image)])
            to_source = int(_distances(words, source).min())
        if accepted:
            to_accepted = int(_distances(words, np.array(accepted)).min())

        reason = ""
        if request.source is not None and to_source <= limit:
            reason = f"The image looks like its source: {to_source} bits of its hash differ."
        elif accepted and to_accepted <= limit:
            reason = f"The image repeats one of its query: {to_accepted} bits of its hash differ."
        return Judgement(float(min(to_source, to_accepted)), reason, {"phash": text}), words


def query_of(request_id: str) -> str:
    """Query id of a request: the part of its id before the last slash.

    Examples
    --------
    >>> query_of("5f1c/000003/000012")
    '5f1c/000003'
    """
    return request_id.rpartition("/")[0]


def find_duplicates(hashes: Sequence[str], distance: int) -> list[int | None]:
    """Find for each image the earlier kept image that it duplicates.

    Parameters
    ----------
    hashes : sequence of str
        Perceptual hashes in hexadecimal, all of one length, in the order of preference.
    distance : int
        Hashes that differ in so many bits or fewer are the same.

    Returns
    -------
    list of (int or None)
        For each the position of the first kept one that it repeats; None for one that is kept.

    Notes
    -----
    Quadratic in the worst case, when all are kept: 10,000 random hashes of 64 bits take 0.2
    to 0.3 s on one core.
    """
    words = _words(hashes)
    kept = np.empty_like(words)
    positions = np.empty(len(words), dtype=np.int64)
    n_kept = 0
    earlier: list[int | None] = []
    for position, word in enumerate(words):
        near = np.flatnonzero(_distances(word, kept[:n_kept]) <= distance)
        if len(near):
            earlier.append(int(positions[near[0]]))
        else:
            kept[n_kept], positions[n_kept] = word, position
            n_kept += 1
            earlier.append(None)
    return earlier


def _words(hashes: Sequence[str]) -> Words:
    """Hashes in hexadecimal as rows of 64-bit words."""
    # A word of 64 bits has 16 hexadecimal digits.
    n_words = math.ceil(max(map(len, hashes), default=16) / 16)
    digits = "".join(text.rjust(16 * n_words, "0") for text in hashes)
    words = np.frombuffer(bytes.fromhex(digits), dtype=">u8").astype(np.uint64)
    return words.reshape(len(hashes), n_words)


def _distances(word: Words, others: Words) -> npt.NDArray[np.int64]:
    """Hamming distances between one hash and each of the others."""
    return np.bitwise_count(word ^ others).sum(axis=-1, dtype=np.int64)


def open_filter(options: DuplicatesOptions) -> DuplicatesFilter:
    """Open the filter; see `cobalance.base.registry.Plugins`."""
    import imagehash

    def phash(image: ImageArray) -> str:
        return str(imagehash.phash(Image.fromarray(image), hash_size=options.hash_size))

    return DuplicatesFilter(options, phash, imagehash.__version__)
