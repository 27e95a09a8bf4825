"""Confidence filter: reject images that a classifier is sure about, right or wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from cobalance.base import JobBlockedError, MayBePath
from cobalance.generation.filters.filter import FilterPlugin, Judgement, Said, Scored, number_text
from cobalance.generation.image_request import GeneratedImage, ImageRequest
from cobalance.vision import ModelOptions, choose_device, choose_dtype

if TYPE_CHECKING:
    from cobalance.vision import Classifier


class ConfidenceOptions(ModelOptions):
    """Classifier and threshold.

    Parameters
    ----------
    model : str
        The folder of a network that was trained on the dataset without generated images.
    threshold : float or None
        The probability from which on the classifier is sure; None for each class's mean in held-out
        images of the class, which the folder has.
    """

    model: Annotated[str, MayBePath()] = ""
    threshold: float | None = Field(default=None, ge=0, le=1)


def _says(found: Scored, _: ConfidenceOptions) -> Said:
    text = f"A classifier gives its class a probability of {number_text(found.score, 0, 1)}"
    if not {"confidence", "threshold"} <= found.details.keys():
        return Said(text)

    best, most = found.details["confidence"], found.details["threshold"]
    sure = "sure" if best > most else "not sure"
    return Said(
        f"{text}; it is {sure}: its highest one is {number_text(best, most, 1)}, and it is sure "
        f"above {number_text(most)}",
        best <= most,
    )


PLUGIN = FilterPlugin(
    "confidence",
    "A classifier trained on real images is not sure of the image: it is neither easy nor wrong.",
    extra="train",
    options=ConfidenceOptions,
    required={
        "model": "the folder of a network that was trained on the dataset without generated images"
    },
    says=_says,
)


@dataclass(frozen=True, eq=False)
class ConfidenceFilter:
    """Rejects images whose class a classifier predicts, or misses, with confidence.

    After ALIA [1]_: what it predicts with confidence adds nothing, and what it takes for another
    class with confidence no longer shows the object. The score is the probability of the image's
    class. Confident is a probability above the mean of the class over images of the class, as in
    the authors' code; there over training images, of which a network is surer, here over the
    held-out images that selected it.

    References
    ----------
    .. [1] Dunlap, L. et al., *Diversify Your Vision Datasets with Automatic Diffusion-Based
       Augmentation* (NeurIPS 2023), section 3.3.
    """

    options: ConfidenceOptions
    classifier: "Classifier"

    def judge(
        self, requests: Sequence[ImageRequest], made: Sequence[GeneratedImage]
    ) -> list[Judgement]:
        """Judge a batch; an image of a class that the classifier does not know is rejected."""
        predicted = self.classifier.predict([generated.image for generated in made])
        return [
            self._judge(request.class_name, probabilities.tolist())
            for request, probabilities in zip(requests, predicted, strict=True)
        ]

    def describe(self) -> Mapping[str, Any]:
        """The threshold, and the classifier with its weights."""
        settings = self.classifier.settings
        return {
            "filter": "confidence",
            "settings": {"threshold": self.options.threshold},
            "confidence": dict(settings.confidence or {}),
            **(settings.about or {}),
        }

    def _judge(self, name: str, probabilities: list[float]) -> Judgement:
        """Judge an image of a class by the probabilities of all classes."""
        classes = self.classifier.settings.classes
        if name not in classes:
            reason = f"The classifier does not know {name!r}: its classes are {', '.join(classes)}."
            return Judgement(0.0, reason)

        best = max(probabilities)
        predicted = classes[probabilities.index(best)]
        most = self.options.threshold
        if most is None:
            most = (self.classifier.settings.confidence or {}).get(name, 1.0)

        reason = ""
        # NaN is rejected, too.
        if not best <= most:
            fault = "is easy" if predicted == name else "does not look like its class"
            reason = (
                f"The image {fault}: the classifier says {predicted!r} with a probability of "
                f"{best:.3f}, more than {most:.3f}."
            )
        details = {"predicted": predicted, "confidence": best, "threshold": most}
        return Judgement(probabilities[classes.index(name)], reason, details)


def open_filter(options: ConfidenceOptions) -> ConfidenceFilter:
    """Open the filter and load its classifier.

    Raises
    ------
    JobBlockedError
        No classifier is given, it is missing or damaged, predicts several classes an image, or has
        no thresholds of its own where none is given.
    """
    if not options.model:
        raise JobBlockedError(
            "The filter confidence needs a classifier of the dataset. Train one without generated "
            "images, and give the folder of its model as the filter's model, or leave the filter "
            "out."
        )
    from cobalance.vision import open_classifier

    device = choose_device(options.device)
    classifier = open_classifier(options, device, choose_dtype(options.dtype, device))

    if classifier.settings.multi_label:
        raise JobBlockedError(
            f"The model {options.model} predicts several classes an image, and the filter "
            "confidence needs one that predicts one. Give another."
        )
    if options.threshold is None and not classifier.settings.confidence:
        raise JobBlockedError(
            f"The model {options.model} has no record of how sure it is of held-out images. Train "
            "it with validation images that select the epoch, or give the filter a threshold."
        )
    return ConfidenceFilter(options, classifier)
