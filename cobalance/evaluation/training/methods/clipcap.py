"""CLIP's embedding as a prefix of GPT-2, trained on images and their captions."""

from dataclasses import dataclass, field
from typing import Any

from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Learner, Method, MethodPlugin, Run
from cobalance.evaluation.training.tuning.options import ClipCapOptions

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
