"""CLIP, fine-tuned contrastively on images and their captions."""

from functools import partial

from cobalance.evaluation.training.method import MethodPlugin, OwnModel
from cobalance.evaluation.training.tuning.options import ClipTuningOptions

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


def open_method(options: ClipTuningOptions) -> OwnModel:
    """Open the method: contrastive fine-tuning, and zero-shot classification after it."""
    from cobalance.evaluation.training.tuning.clip import tune_clip

    return partial(tune_clip, options)
