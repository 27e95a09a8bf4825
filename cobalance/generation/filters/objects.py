"""Object filter: detect the concepts, the class, and unwanted concepts of the vocabulary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cobalance.base.readable_names import join_names, readable
from cobalance.generation.filters.filter import (
    Asked,
    FilterPlugin,
    Judgement,
    Said,
    Scored,
    describe_score,
    vocabulary_sha256,
)
from cobalance.generation.image_request import GeneratedImage, ImageRequest
from cobalance.vision.models.detector import Detector, open_detector
from cobalance.vision.models.options import DetectorOptions


class ObjectsOptions(DetectorOptions):
    """Detector, thresholds and vocabulary of the filter.

    Parameters
    ----------
    check_class : bool
        Whether the class must be found too.
    class_text : str, mapping of str to str, or None
        What the class is called: one text for all classes, such as "bird" where they are kinds of
        it, or one by class; None, or a class that is left out, for the class's own name.
    vocabulary : tuple of str
        The concepts of the dataset, to report those that were not requested.
    reject_unasked : bool
        Whether to reject an image that shows one of those: it would count for other cliques than
        those that it was made for.
    """

    check_class: bool = True
    class_text: str | Mapping[str, str] | None = None
    vocabulary: tuple[str, ...] = ()
    reject_unasked: bool = False


def _says(found: Scored, options: ObjectsOptions) -> Said:
    said = []
    if found.concepts:
        names = join_names(found.concepts)
        said.append((found.score, names if len(found.concepts) == 1 else f"all of {names}"))
    if options.check_class and "class" in found.details:
        said.append((found.details["class"], class_text(options, found.class_name)))
    texts = [
        describe_score(
            score,
            options.threshold,
            enough=f"{'a' if at else 'A'} detector finds {name}",
            too_little=f"{'a' if at else 'A'} detector does not find {name}",
        )
        for at, (score, name) in enumerate(said)
    ]
    return Said.all(texts) if texts else Said("The detector was asked for nothing")


def _looks(options: ObjectsOptions) -> frozenset[Asked]:
    if not options.threshold:  # which every score reaches
        return frozenset()
    return frozenset(["concepts", "class"] if options.check_class else ["concepts"])


def class_text(options: ObjectsOptions, class_name: str) -> str:
    """Text with which the detector looks for a class."""
    text = options.class_text
    return text if isinstance(text, str) else (text or {}).get(class_name, class_name)


PLUGIN = FilterPlugin(
    "objects",
    "A detector finds the concepts and the class in the image.",
    extra="models",
    options=ObjectsOptions,
    licence="Apache-2.0",
    takes_vocabulary=True,
    says=_says,
    looks=_looks,
)


@dataclass(frozen=True, eq=False)
class ObjectsFilter:
    """Rejects images in which a detector does not find the requested class and concepts.

    The score is the smallest of the requested concepts' best scores, 1 without concepts. The
    details have what was found and what was not, at the detector's threshold, of the concepts and
    of the vocabulary's others, and the class's best score.
    """

    options: ObjectsOptions
    detector: Detector

    def judge(
        self, requests: Sequence[ImageRequest], made: Sequence[GeneratedImage]
    ) -> list[Judgement]:
        """Judge a batch; see `cobalance.generation.filters.filter.Filter`."""
        names = dict.fromkeys(name for request in requests for name in self._names(request))
        images = [one.image for one in made]
        scores = self.detector.best_scores(images, list(names))
        return [
            self._judge(request, dict(zip(names, map(float, row), strict=True)))
            for request, row in zip(requests, scores, strict=True)
        ]

    def describe(self) -> Mapping[str, Any]:
        """The settings, and the model with its weights."""
        described = self.detector.describe()
        own = self.options.model_dump(
            mode="json",
            include=set(ObjectsOptions.model_fields) - set(DetectorOptions.model_fields),
            exclude={"vocabulary"},
        )
        own["vocabulary_sha256"] = vocabulary_sha256(self.options.vocabulary)
        return {"filter": "objects", **described, "settings": {**described["settings"], **own}}

    def _names(self, request: ImageRequest) -> list[str]:
        classes = [class_text(self.options, request.class_name)] if self.options.check_class else []
        return [*request.concepts, *classes, *self.options.vocabulary]

    def _judge(self, request: ImageRequest, scores: Mapping[str, float]) -> Judgement:
        found = {name: scores[name] for name in request.concepts if self._is_found(scores[name])}
        missing = [name for name in request.concepts if name not in found]
        called = class_text(self.options, request.class_name)
        unasked = {
            name: scores[name]
            for name in self.options.vocabulary
            if self._is_found(scores[name]) and name not in (*request.concepts, called)
        }
        details: dict[str, Any] = {"found": found, "missing": missing, "unasked": unasked}
        wanted = list(missing)
        if self.options.check_class:
            details["class"] = scores[called]
            if not self._is_found(scores[called]):
                wanted.append(called)
        reasons = []
        if wanted:
            reasons.append(f"The detector does not find {_with_scores(wanted, scores)}.")
        if unasked and self.options.reject_unasked:
            reasons.append(f"It finds unrequested concepts: {_with_scores(unasked, scores)}.")
        score = min((scores[name] for name in request.concepts), default=1.0)
        return Judgement(score, " ".join(reasons), details)

    def _is_found(self, score: float) -> bool:
        return score >= self.options.threshold


def _with_scores(names: Sequence[str] | Mapping[str, float], scores: Mapping[str, float]) -> str:
    return join_names([f"{readable(name)} ({scores[name]:.2f})" for name in names])


def open_filter(options: ObjectsOptions) -> ObjectsFilter:
    """Open the filter and load its detector; see `cobalance.base.plugins.Plugins`."""
    return ObjectsFilter(options, open_detector(options))
