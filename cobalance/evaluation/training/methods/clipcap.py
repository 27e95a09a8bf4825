"""CLIP's embedding as a prefix of GPT-2, trained on images and their captions."""

from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Learner, Method, MethodPlugin, Run
from cobalance.evaluation.training.methods.captioner import CaptionerOptions


class ClipCapOptions(CaptionerOptions):
    """Options of the method clipcap.

    Parameters
    ----------
    language_model : str
        A GPT-2: a folder, or a repository of the hub as ``owner/name``; `model` is a CLIP.
    language_revision : str or None
        Commit, tag or branch on the hub; None for the default model's own, or the newest.
    prefix_length : int
        How many words the image stands for.
    """

    model: str = "openai/clip-vit-base-patch32"
    batch_size: int = Field(default=40, ge=2, le=1024)
    learning_rate: float = Field(default=2e-5, gt=0, allow_inf_nan=False)
    language_model: str = "openai-community/gpt2"
    language_revision: str | None = None
    prefix_length: int = Field(default=10, ge=1, le=256)

    def language(self, default: str) -> str | None:
        """The revision of the language model, or else `default` if that is the default one."""
        chosen = self.language_model != type(self).model_fields["language_model"].default
        return self.language_revision if chosen or self.language_revision else default


PLUGIN = MethodPlugin(
    "clipcap",
    "Trains GPT-2 to describe images by CLIP's embeddings; predictions are captions, as captioner.",
    extra="train",
    options=ClipCapOptions,
    licence="none named on the hub for CLIP; its code and GPT-2 are under MIT",
    own_model=True,
    multi_label=False,
    needs_validation=True,
    reference="ClipCap (Mokady et al., 2021), section 3: an MLP makes a prefix of 10, GPT-2 is "
    "fine-tuned at 2e-5 in batches of 40. Resampled Datasets Are Not Enough, section 3.2, stops it "
    "early. Captions end with GPT-2's own end of text, not at the first full stop.",
)


@dataclass(frozen=True)
class ClipCapTuning(Method):
    """Training of a captioner in ClipCap's form."""

    options: ClipCapOptions = field(default_factory=ClipCapOptions)

    def train(
        self, learner: Learner, training: Examples, validation: Examples | None, run: Run
    ) -> Any:
        """Train the prefix and GPT-2; no learner is used. The model is a `Captioner`."""
        del learner
        from cobalance.evaluation.training.tuning.prefix import tune_prefix_captioner

        return tune_prefix_captioner(self.options, training, validation, run)


def open_method(options: ClipCapOptions) -> Method:
    """Open the method."""
    return ClipCapTuning(options.model_dump(mode="json"), options=options)
