"""Filter protocol: judge a batch of generated images, with a score and a reason each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from generation.filters.pool import Pool, Vector
from generation.image_request import GeneratedImage, ImageRequest
from graph.plugins import Plugin, Plugins


@dataclass(frozen=True)
class Judgement:
    """A filter's judgement of one image.

    Parameters
    ----------
    score : float
        Finite; its scale depends on the filter.
    accepted : bool
        Its verdict.
    reason : str
        Why it is rejected, as a sentence for people; empty for an accepted one.
    details : mapping
        Further measurements, such as a raw cosine; JSON values.
    vectors : mapping of str to float32 array, shape (d,)
        What a `PoolCheck` compares: ``image`` for the image, ``source`` for its source. They are
        kept beside the job's images, not in the graph. Empty for most filters.
    """

    score: float
    accepted: bool
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    vectors: Mapping[str, Vector] = field(default_factory=dict, compare=False, repr=False)


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


@dataclass(frozen=True)
class PoolCheck:
    """A judgement that compares all images of a job: made once every one of them is there.

    Parameters
    ----------
    judge : callable
        Given the pool and the filter's options, the judgement of each candidate by its id, which
        takes the place of the first one. Pure, and independent of the order of the candidates.
    """

    judge: Callable[[Pool, Any], Mapping[str, Judgement]]


def _never(_: Any) -> bool:
    return False


def compared(score: float, least: float | None, enough: str, too_little: str) -> str:
    """A score beside what it needs, in words.

    Examples
    --------
    >>> compared(0.191, 0.24, "CLIP finds cow", "CLIP finds no cow")
    'CLIP finds no cow: 0.19, needs 0.24'
    """
    if least is None:
        return f"{enough}: {score:.3g}"
    return f"{enough if score >= least else too_little}: {score:.2g}, needs {least:g}"


@dataclass(frozen=True)
class FilterPlugin(Plugin):
    """Declaration of a filter's module.

    Parameters
    ----------
    takes_vocabulary : bool
        Whether its option ``vocabulary`` is the dataset's concepts where a job does not set it.
    repeats : RepeatCheck or None
        How it finds repetitions across chunks; None where it does not.
    pool : PoolCheck or None
        How it judges all images of a job together; None where it judges each by itself.
    required : mapping of str to str
        Options that a job has to give, each with what it is.
    says : callable or None
        Given a score, the filter's options, and the concepts or the class that were asked for in
        words: what the score says.
    looks : callable
        Given its options, whether it rejects images that do not show what was asked for.
    """

    takes_vocabulary: bool = False
    repeats: RepeatCheck | None = None
    pool: PoolCheck | None = None
    required: Mapping[str, str] = field(default_factory=dict)
    says: Callable[[float, Any, str], str] | None = None
    looks: Callable[[Any], bool] = _never


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
        ...

    def describe(self) -> Mapping[str, Any]:
        """Settings, model, revision and weights for provenance; JSON values."""
        ...


def without_source(name: str) -> Judgement:
    """The judgement of an image that has no source, by a filter that compares the two."""
    reason = (
        f"There is no source that the filter {name} could compare the image with. Leave the filter "
        "out, or use it where images are edited."
    )
    return Judgement(0.0, accepted=False, reason=reason)


class Filters(Plugins[Filter]):
    """Registry of filters with their declarations."""

    def __getitem__(self, name: str) -> FilterPlugin:
        return cast("FilterPlugin", super().__getitem__(name))
