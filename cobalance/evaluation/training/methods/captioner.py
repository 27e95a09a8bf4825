"""BLIP, fine-tuned on images and their captions, with early stopping."""

from dataclasses import dataclass, field
from typing import Any

from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Learner, Method, MethodPlugin, Run
from cobalance.evaluation.training.tuning.options import CaptionerOptions

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
