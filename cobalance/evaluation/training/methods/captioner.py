"""BLIP, fine-tuned on images and their captions, with early stopping."""

from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field

from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Learner, Method, MethodPlugin, Run
from cobalance.evaluation.training.tuning.options import TuningOptions


class CaptionerOptions(TuningOptions):
    """Options of the method captioner.

    Parameters
    ----------
    words : str
        The list of words that tell which group a caption names, built-in or a TOML file.
    beams : int
        Of the search for a caption.
    max_tokens : int
        The longest caption.
    scorer : str
        The CLIP of CLIPScore, a folder or a repository of the hub; empty for no CLIPScore.
    """

    model: str = "Salesforce/blip-image-captioning-base"
    batch_size: int = Field(default=32, ge=2, le=1024)
    learning_rate: float = Field(default=1e-5, gt=0, allow_inf_nan=False)
    select: Literal["last", "loss"] = "loss"
    patience: int | None = Field(default=3, ge=1)
    words: str = "gensynth"
    beams: int = Field(default=3, ge=1, le=50)
    max_tokens: int = Field(default=30, ge=1, le=500)
    scorer: str = "openai/clip-vit-base-patch32"

    def search(self) -> dict[str, Any]:
        """What decides captions, and which groups they name, for a given model."""
        return self.model_dump(include={"words", "beams", "max_tokens"})


PLUGIN = MethodPlugin(
    "captioner",
    "Fine-tunes BLIP on images and their captions; predictions are captions, and what they name.",
    extra="train",
    options=CaptionerOptions,
    licence="BSD-3-Clause",
    own_model=True,
    multi_label=False,
    needs_validation=True,
    reference="Resampled Datasets Are Not Enough, section 3.2, which fine-tunes captioners with "
    "early stopping, and leaves the patience open.",
)


@dataclass(frozen=True)
class CaptionerTuning(Method):
    """Fine-tuning of a captioner."""

    options: CaptionerOptions = field(default_factory=CaptionerOptions)

    def train(
        self, learner: Learner, training: Examples, validation: Examples | None, run: Run
    ) -> Any:
        """Fine-tune BLIP; no learner is used. The model is a `Captioner`."""
        del learner
        from cobalance.evaluation.training.tuning.captioner import tune_captioner

        return tune_captioner(self.options, training, validation, run, **self.options.search())


def open_method(options: CaptionerOptions) -> Method:
    """Open the method."""
    return CaptionerTuning(options.model_dump(mode="json"), options=options)
