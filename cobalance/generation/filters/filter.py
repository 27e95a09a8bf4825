"""Filter protocol: judge a batch of generated images, with a score and a reason each."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from cobalance.base import Options, Plugin
from cobalance.generation.filters.pool import Pool, Vector
from cobalance.generation.image_request import GeneratedImage, ImageRequest


@dataclass(frozen=True)
class Judgement:
    """A filter's judgement of one image.

    Parameters
    ----------
    score : float
        Finite; its scale depends on the filter.
    reason : str
        Why the image is rejected, as a sentence for people. An empty one means that it is accepted.
    details : mapping
        Further measurements, such as a raw cosine; JSON values.
    vectors : mapping of str to float32 array, shape (d,)
        What a `JudgePool` compares: ``image`` for the image, ``source`` for its source. They are
        kept beside the job's images, not in the graph. Empty for most filters.
    """

    score: float
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    vectors: Mapping[str, Vector] = field(default_factory=dict, compare=False, repr=False)

    @property
    def accepted(self) -> bool:
        """Whether there is no reason to reject the image."""
        return not self.reason


@dataclass(frozen=True)
class RepeatCheck:
    """Detection of duplicates across chunks, which are judged separately.

    Parameters
    ----------
    detail : str
        The detail of its judgements that stands for an image: its fingerprint.
    find : callable
        Given fingerprints in the order of preference, and the filter's ``options`` by that name,
        the position of the kept fingerprint that each one repeats; None for one that is kept.
    """

    detail: str
    find: Callable[..., Sequence[int | None]]


JudgePool = Callable[[Pool, Any], Mapping[str, Judgement]]
"""Given all images of a job and the filter's options, the judgement of each candidate by its id,
which takes the place of the first one. Pure, and independent of the order of the candidates."""

Asked = Literal["concepts", "class"]
"""What an image is asked to show."""

LOOKS_FOR_ALL: frozenset[Asked] = frozenset(["concepts", "class"])


@dataclass(frozen=True)
class Scored:
    """A filter's score of an image, with the requested class and concepts.

    Parameters
    ----------
    score : float
        Finite.
    details : mapping of str to float
        The other finite numbers of its judgement that are known, by name.
    concepts : tuple of str
        The concepts that were asked for.
    class_name : str
        The class.
    """

    score: float
    details: Mapping[str, float]
    concepts: tuple[str, ...]
    class_name: str


class Said(NamedTuple):
    """A filter's statement about an image, and whether the image passes."""

    text: str
    enough: bool = True

    @classmethod
    def all(cls, said: Sequence["Said"]) -> "Said":
        """Several in one, which is enough where each is."""
        return cls("; ".join(part.text for part in said), all(part.enough for part in said))


def number_text(value: float, *others: float) -> str:
    """A number with at least two digits, and as many as tell it from others.

    Examples
    --------
    >>> number_text(0.191, 0.24), number_text(0.2398, 0.24), number_text(0.24, 0.24)
    ('0.19', '0.2398', '0.24')
    """
    for digits in range(2, 17):
        text = f"{value:.{digits}g}"
        rounded = float(text)
        # It must lie on the same side of each of the others as the number itself.
        if all((rounded < n, rounded > n) == (value < n, value > n) for n in others):
            return text
    return repr(value)


def describe_score(
    score: float, least: float | None, *, enough: str, too_little: str, measured: str = ""
) -> Said:
    """Describe a score beside its threshold.

    Parameters
    ----------
    score : float
        Finite.
    least : float or None
        The lowest score that is enough; None where every one is.
    enough, too_little : str
        What it says then.
    measured : str
        What is measured, where no score is too little.

    Examples
    --------
    >>> words = {"enough": "CLIP finds cow", "too_little": "CLIP finds no cow"}
    >>> describe_score(0.191, 0.24, **words, measured="CLIPScore of cow")
    Said(text='CLIP finds no cow: 0.19, needs 0.24', enough=False)
    >>> describe_score(0.191, None, **words, measured="CLIPScore of cow")
    Said(text='CLIPScore of cow: 0.191', enough=True)
    """
    if least is None:
        return Said(f"{measured}: {score:.3g}")
    needed = repr(float(least)).removesuffix(".0")
    is_enough = score >= least
    words = enough if is_enough else too_little
    return Said(f"{words}: {number_text(score, least)}, needs {needed}", is_enough)


@dataclass(frozen=True)
class FilterPlugin(Plugin):
    """Declaration of a filter's module.

    Parameters
    ----------
    takes_vocabulary : bool
        Whether its option ``vocabulary`` is the dataset's concepts where a job does not set it.
    repeats : RepeatCheck or None
        How it finds repetitions across chunks; None where it does not.
    judge_pool : callable or None
        How it judges all images of a job together, once every one is there, see `JudgePool`; None
        where it judges each by itself.
    required : mapping of str to str
        Options that a job has to give, each with what it is.
    says : callable or None
        Given what it scored and its options, what the score says, in words.
    looks : callable
        Given its options, what of that which was asked for it looks for, and rejects an image
        without; the class alone counts where no concepts were asked for.
    missing : str or None
        The detail of its judgements that lists the requested concepts that it did not find.
    """

    takes_vocabulary: bool = False
    repeats: RepeatCheck | None = None
    judge_pool: JudgePool | None = None
    required: Mapping[str, str] = field(default_factory=dict)
    says: Callable[[Scored, Any], Said] | None = None
    looks: Callable[[Any], frozenset[Asked]] = lambda _: frozenset()
    missing: str | None = None


class Filter(Protocol):
    """Judges images; opened once per process, used by one thread at a time."""

    def judge(
        self, requests: Sequence[ImageRequest], made: Sequence[GeneratedImage]
    ) -> list[Judgement]:
        """Judge a batch; one judgement per image.

        Raises
        ------
        OutOfMemoryError
            The batch is too large for the device.
        """

    def describe(self) -> Mapping[str, Any]:
        """Settings, model, revision and weights for provenance; JSON values."""


@dataclass(frozen=True)
class PixelFilter:
    """A filter without a model, which judges each image by itself.

    Parameters
    ----------
    judge_image : callable
        Given a request, its image and the options, the judgement; linear in the pixels.
    constants : mapping
        What else decides the scores, for provenance; JSON values.
    """

    name: str
    options: Options
    judge_image: Callable[[ImageRequest, GeneratedImage, Any], Judgement]
    constants: Mapping[str, Any] = field(default_factory=dict)

    def judge(
        self, requests: Sequence[ImageRequest], made: Sequence[GeneratedImage]
    ) -> list[Judgement]:
        """Judge a batch; see `Filter`."""
        pairs = zip(requests, made, strict=True)
        return [self.judge_image(request, image, self.options) for request, image in pairs]

    def describe(self) -> Mapping[str, Any]:
        """The settings."""
        return {"filter": self.name, "settings": {**self.options.model_dump(), **self.constants}}


def without_source(name: str) -> Judgement:
    """The judgement of an image that has no source, by a filter that compares the two."""
    reason = (
        f"There is no source that the filter {name} could compare the image with. Leave the filter "
        "out, or use it where images are edited."
    )
    return Judgement(0.0, reason)


def vocabulary_sha256(names: Iterable[str]) -> str:
    """Digest of a vocabulary, which may have hundreds of names, for provenance of each image."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()
