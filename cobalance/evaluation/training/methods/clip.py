"""CLIP, fine-tuned contrastively on images and their captions."""

from dataclasses import dataclass, field

from pydantic import field_validator

from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Learner, Method, MethodPlugin, Run
from cobalance.evaluation.training.model import Model
from cobalance.evaluation.training.tuning.options import ClipOptions
from cobalance.ingest.models.clip import CLIP
from cobalance.ingest.models.prompts import PHOTO, check_template


class ClipTuningOptions(ClipOptions):
    """Options of the method clip.

    Parameters
    ----------
    prompt : str
        The text of a class, with the class as its concept; see `cobalance.ingest.models.prompts`.
    folder : str
        Images with a subfolder for each class, as on the worker, to score the model with, too: as
        ``class/image``, or ``class/group/image`` for recall by group; empty for none.
    """

    model: str = CLIP
    prompt: str = PHOTO
    folder: str = ""

    @field_validator("prompt")
    @classmethod
    def _check_prompt(cls, prompt: str) -> str:
        check_template(prompt)
        return prompt


PLUGIN = MethodPlugin(
    "clip",
    "Fine-tunes CLIP on images and their captions; classes are predicted by their names alone.",
    extra="train",
    options=ClipTuningOptions,
    licence="none named on the hub; its code is under MIT",
    own_model=True,
    multi_label=False,
    reference="Pinpoint Counterfactuals, section 4.4: 30 epochs, a warm-up, and a learning rate of "
    "at most 5e-5. Batch size, weight decay and the length of the warm-up are not stated.",
)


@dataclass(frozen=True)
class ClipTuning(Method):
    """Contrastive fine-tuning; zero-shot classification after it."""

    options: ClipTuningOptions = field(default_factory=ClipTuningOptions)

    def train(
        self, learner: Learner, training: Examples, validation: Examples | None, run: Run
    ) -> Model:
        """Fine-tune CLIP; no learner is used."""
        del learner
        from cobalance.evaluation.training.tuning.clip import tune_clip

        return tune_clip(self.options, training, validation, run, self.options.prompt)


def open_method(options: ClipTuningOptions) -> Method:
    """Open the method."""
    return ClipTuning(options.model_dump(mode="json"), options=options)
