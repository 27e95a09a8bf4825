"""Methods that fine-tune a model of their own on images and their captions."""

from functools import partial

from cobalance.evaluation.training.method import MethodPlugin, OwnModel
from cobalance.evaluation.training.tuning.options import (
    CaptionerOptions,
    ClipCapOptions,
    ClipTuningOptions,
)


def open_clip(options: ClipTuningOptions) -> OwnModel:
    """Open the method clip: contrastive fine-tuning, and zero-shot classification after it."""
    from cobalance.evaluation.training.tuning.clip import tune_clip

    return partial(tune_clip, options)


def open_captioner(options: CaptionerOptions) -> OwnModel:
    """Open the method captioner: BLIP."""
    from cobalance.evaluation.training.tuning.captioner import tune_captioner

    return partial(tune_captioner, options)


def open_clipcap(options: ClipCapOptions) -> OwnModel:
    """Open the method clipcap: CLIP's embedding as a prefix of GPT-2."""
    from cobalance.evaluation.training.tuning.prefix import tune_prefix_captioner

    return partial(tune_prefix_captioner, options)


PLUGINS = (
    MethodPlugin(
        "clip",
        "Fine-tunes CLIP on images and their captions; classes are predicted by their names alone.",
        extra="train",
        options=ClipTuningOptions,
        open=open_clip,
        licence="none named on the hub; its code is under MIT",
        own_model=True,
        multi_label=False,
        reference="Pinpoint Counterfactuals, section 4.4: 30 epochs, a warm-up, and a learning "
        "rate of at most 5e-5. Batch size, weight decay and the length of the warm-up are not "
        "stated.",
    ),
    MethodPlugin(
        "captioner",
        "Fine-tunes BLIP on images and their captions; predictions are captions, and what they "
        "name.",
        extra="train",
        options=CaptionerOptions,
        open=open_captioner,
        licence="BSD-3-Clause",
        own_model=True,
        multi_label=False,
        needs_validation=True,
        reference="Resampled Datasets Are Not Enough, section 3.2, which fine-tunes captioners "
        "with early stopping, and leaves the patience open.",
    ),
    MethodPlugin(
        "clipcap",
        "Trains GPT-2 to describe images by CLIP's embeddings; predictions are captions, as "
        "captioner.",
        extra="train",
        options=ClipCapOptions,
        open=open_clipcap,
        licence="none named on the hub for CLIP; its code and GPT-2 are under MIT",
        own_model=True,
        multi_label=False,
        needs_validation=True,
        reference="ClipCap (Mokady et al., 2021), section 3: an MLP makes a prefix of 10, GPT-2 is "
        "fine-tuned at 2e-5 in batches of 40. Resampled Datasets Are Not Enough, section 3.2, "
        "stops it early. Captions end with GPT-2's own end of text, not at the first full stop.",
    ),
)
