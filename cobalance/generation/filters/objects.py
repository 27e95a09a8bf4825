"""Object filter: detect the concepts, the class, and unwanted concepts of the vocabulary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cobalance.base import join_names, readable
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
from cobalance.vision import Detector, DetectorOptions, open_detector


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
    scores = []
    if found.concepts:
        names = join_names(found.concepts)
        scores.append((found.score, names if len(found.concepts) == 1 else f"all of {names}"))
    if options.check_class and "class" in found.details:
        scores.append((found.details["class"], class_text(options, found.class_name)))
    if not scores:
        return Said("The detector was asked for nothing")

    parts = []
    detector = "A detector"
    for score, name in scores:
        enough, too_little = f"{detector} finds {name}", f"{detector} does not find {name}"
        parts.append(describe_score(score, options.threshold, enough=enough, too_little=too_little))
        # The second one goes on in the same sentence.
        detector = "a detector"
    return Said.all(parts)


def _looks(options: ObjectsOptions) -> frozenset[Asked]:
    # Every score reaches a threshold of 0.
    if not options.threshold:
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
    missing="missing",
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
        scores = self.detector.best_scores([generated.image for generated in made], list(names))
        return [
            self._judge(request, dict(zip(names, map(float, row), strict=True)))
            for request, row in zip(requests, scores, strict=True)
        ]

    def describe(self) -> Mapping[str, Any]:
        """The settings, and the model with its weights."""
        described = self.detector.describe()
        settings = self.options.model_dump(
            mode="json",
            include=set(ObjectsOptions.model_fields) - set(DetectorOptions.model_fields),
            exclude={"vocabulary"},
        )
        settings["vocabulary_sha256"] = vocabulary_sha256(self.options.vocabulary)

        return {
            "filter": "objects",
            **described,
            "settings": {**described["settings"], **settings},
        }

    def _names(self, request: ImageRequest) -> list[str]:
        names = [*request.concepts, *self.options.vocabulary]
        if self.options.check_class:
            names.insert(len(request.concepts), class_text(self.options, request.class_name))
        return names

    def _judge(self, request: ImageRequest, scores: Mapping[str, float]) -> Judgement:
        """Judge an image by the best score of each name in it."""
        in_image = {
            name: score for name, score in scores.items() if score >= self.options.threshold
        }
        concepts = {name: scores[name] for name in request.concepts if name in in_image}
        missing = [name for name in request.concepts if name not in in_image]

        class_name = class_text(self.options, request.class_name)
        asked_names = {*request.concepts, class_name}
        unasked = {
            name: scores[name]
            for name in self.options.vocabulary
            if name in in_image and name not in asked_names
        }
        details: dict[str, Any] = {"found": concepts, "missing": missing, "unasked": unasked}

        lacking = list(missing)
        if self.options.check_class:
            details["class"] = scores[class_name]
            if class_name not in in_image:
                lacking.append(class_name)

        reasons = []
        if lacking:
            reasons.append(f"The detector does not find {_with_scores(lacking, scores)}.")
        if unasked and self.options.reject_unasked:
            reasons.append(f"It finds unrequested concepts: {_with_scores(unasked, scores)}.")
        score = min((scores[name] for name in request.concepts), default=1.0)
        return Judgement(score, " ".join(reasons), details)


def _with_scores(names: Sequence[str] | Mapping[str, float], scores: Mapping[str, float]) -> str:
    return join_names([f"{readable(name)} ({scores[name]:.2f})" for name in names])


def open_filter(options: ObjectsOptions) -> ObjectsFilter:
    """Open the filter and load its detector; see `cobalance.base.registry.Plugins`."""
    return ObjectsFilter(options, open_detector(options))
