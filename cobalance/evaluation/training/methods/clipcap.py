"""CLIP's embedding as a prefix of GPT-2, trained on images and their captions."""

from functools import partial

from cobalance.evaluation.training.method import MethodPlugin, OwnModel
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


def open_method(options: ClipCapOptions) -> OwnModel:
    """Open the method."""
    from cobalance.evaluation.training.tuning.prefix import tune_prefix_captioner

    return partial(tune_prefix_captioner, options)
