"""Options of fine-tuning on images with captions."""

from typing import Any, Literal

from pydantic import Field

from cobalance.evaluation.training.networks.options import TrainingOptions
from cobalance.vision import CLIP, PHOTO, Template


class TuningOptions(TrainingOptions):
    """Model, optimisation and selection.

    Parameters
    ----------
    epochs : int
        Passes over the training images.
    batch_size : int
        Pairs of an image and a caption a step.
    learning_rate : float
        The largest: it rises over the warm-up and falls to 0 along a cosine.
    warmup : float
        Share of the steps that warm up.
    weight_decay : float
        Of AdamW, for matrices; biases and gains have none.
    select : {"last", "loss"}
        Which epoch: the last, or the one with the least loss on validation images.
    patience : int or None
        With ``loss``, stop after so many epochs without a better one; None to train all.
    dtype : {"float32", "bfloat16", "auto"}
        Precision of the computations, weights are always single; auto is bfloat16 on a GPU.
    """

    epochs: int = Field(default=30, ge=1, le=100_000)
    batch_size: int = Field(default=128, ge=2, le=1024)
    learning_rate: float = Field(default=5e-5, gt=0, allow_inf_nan=False)
    warmup: float = Field(default=0.1, ge=0, lt=1)
    weight_decay: float = Field(default=0.1, ge=0, allow_inf_nan=False)
    select: Literal["last", "loss"] = "last"
    patience: int | None = Field(default=None, ge=1)


class ClipTuningOptions(TuningOptions):
    """Options of the method clip.

    Parameters
    ----------
    layout : {"transformers", "open_clip"}
        Whose files the model has; those of open_clip are its configuration, a tokenizer and
        `weights_file`.
    weights_file : str
        Name of the weights of open_clip, as safetensors.
    prompt : str
        The text of a class, with the class as its concept; see `cobalance.vision.models.prompts`.
    folder : str
        Images with a subfolder for each class, as on the worker, to score the model with, too: as
        ``class/image``, or ``class/group/image`` for recall by group; empty for none.
    """

    layout: Literal["transformers", "open_clip"] = "transformers"
    model: str = CLIP
    weights_file: str = "open_clip_model.safetensors"
    prompt: Template = PHOTO
    folder: str = ""


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
    scorer: str = CLIP

    def search(self) -> dict[str, Any]:
        """Options of decoding, and the words of groups."""
        return self.model_dump(include={"words", "beams", "max_tokens"})


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

    model: str = CLIP
    batch_size: int = Field(default=40, ge=2, le=1024)
    learning_rate: float = Field(default=2e-5, gt=0, allow_inf_nan=False)
    language_model: str = "openai-community/gpt2"
    language_revision: str | None = None
    prefix_length: int = Field(default=10, ge=1, le=256)

    def language(self, default: str) -> str | None:
        """The revision of the language model, or else `default` if that is the default one."""
        is_default = self.language_model == type(self).model_fields["language_model"].default
        if is_default and not self.language_revision:
            return default
        return self.language_revision
