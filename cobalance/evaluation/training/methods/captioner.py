"""BLIP, fine-tuned on images and their captions, with early stopping."""

from functools import partial

from cobalance.evaluation.training.method import MethodPlugin, OwnModel
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


def open_method(options: CaptionerOptions) -> OwnModel:
    """Open the method."""
    from cobalance.evaluation.training.tuning.captioner import tune_captioner

    return partial(tune_captioner, options)
