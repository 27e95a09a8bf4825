"""Options shared by the filters, annotators and segmenters that run a vision model."""

from typing import Literal

from pydantic import Field, field_validator

from cobalance.base import OptionError, Options
from cobalance.vision.models.prompts import PHOTO, Template


class ModelOptions(Options):
    """Options of a vision model.

    Parameters
    ----------
    model : str
        A folder, or a repository of the hub as ``owner/name``.
    revision : str or None
        Commit, tag or branch on the hub; None for the default model's own, or the newest.
    offline : bool
        Load from this machine only, download nothing.
    device : str
        A device of torch, or ``auto`` for a GPU if there is one.
    dtype : {"float32", "float16", "bfloat16", "auto"}
        Single precision by default even on a GPU, as scores are compared with thresholds: bfloat16
        keeps two to three digits, and its scores vary with the rest of the batch.
    batch_size : int
        Images per batch; fewer need less memory.
    """

    model: str
    revision: str | None = None
    offline: bool = False
    device: str = "auto"
    dtype: Literal["float32", "float16", "bfloat16", "auto"] = "float32"
    batch_size: int = Field(default=16, ge=1, le=1024)

    def revision_or(self, default: str) -> str | None:
        """The chosen revision, or else `default` if the model is the default one."""
        is_default = self.model == type(self).model_fields["model"].default
        if is_default and self.revision is None:
            return default
        return self.revision


class QueryOptions(ModelOptions):
    """Options of a model that looks for names.

    Parameters
    ----------
    threshold : float
        Lowest score of a name that is found; not tuned on any dataset.
    query : str
        Prompt template for a name, see `cobalance.vision.models.prompts`.
    """

    threshold: float = Field(default=0.5, ge=0, le=1)
    query: Template = PHOTO


class DetectorOptions(QueryOptions):
    """Options of the detector.

    Parameters
    ----------
    threshold : float
        Lowest score of a detection. The default is the library's; it is permissive, and not
        tuned on any dataset.
    overlap : float
        Non-maximum suppression: of two boxes of a name with a larger IoU, the surer one stays.
    query : str
        Prompt template for a name, see `cobalance.vision.models.prompts`.
    """

    model: str = "google/owlv2-base-patch16-ensemble"
    batch_size: int = Field(default=4, ge=1, le=1024)
    threshold: float = Field(default=0.1, ge=0, le=1)
    overlap: float = Field(default=0.5, ge=0, le=1)


class BlipItmOptions(QueryOptions):
    """Options of BLIP's image-text matching.

    Parameters
    ----------
    threshold : float
        Lowest probability of a match; not tuned on any dataset.
    """

    model: str = "Salesforce/blip-itm-large-coco"


class Siglip2Options(QueryOptions):
    """Options of SigLIP.

    Parameters
    ----------
    threshold : float
        Lowest probability of a match. Fitting texts often get a third or less; not tuned on any
        dataset.
    """

    model: str = "google/siglip2-base-patch16-224"
    threshold: float = Field(default=0.1, ge=0, le=1)


class GroundingOptions(DetectorOptions):
    """Options of Grounding DINO and its kin.

    Parameters
    ----------
    threshold : float
        Lowest score of a detection: the mean over the tokens of its name; not tuned on any dataset.
    query : str
        Words around a name; the model was trained on bare ones.
    chunk_tokens : int
        Most tokens of a prompt, at most the model's own limit. As many names as fit share a prompt.
    alone : bool
        Give each name a prompt of its own, so that its score does not depend on the others; as many
        passes as there are names.
    """

    model: str = "iSEE-Laboratory/llmdet_tiny"
    threshold: float = Field(default=0.3, ge=0, le=1)
    query: Template = "{names}"
    chunk_tokens: int = Field(default=256, ge=16, le=256)
    alone: bool = False


class VlmOptions(QueryOptions):
    """Options of the questions to a vision-language model.

    Parameters
    ----------
    batch_size : int
        Has no effect: a question is asked alone, as a batch would need padding.
    threshold : float
        Lowest probability of yes; not tuned on any dataset.
    query : str
        What is asked about a name.
    question : str
        What is asked about a text, in place of ``{text}``.
    """

    model: str = "Qwen/Qwen3-VL-2B-Instruct"
    query: Template = "a photo of {concepts}"
    question: str = 'Does "{text}" describe this image? Answer with yes or no.'

    @field_validator("question")
    @classmethod
    def _check_question(cls, question: str) -> str:
        if "{text}" not in question:
            raise OptionError(
                f"The question {question!r} has no place for what is asked about. Write {{text}}."
            )
        return question


class CaptionOptions(ModelOptions):
    """Options of captions that a model writes.

    Parameters
    ----------
    prompt : str
        What the model is asked; of Florence-2 one of its tasks, such as ``<CAPTION>`` or
        ``<MORE_DETAILED_CAPTION>``.
    max_tokens : int
        Longest caption.
    beams : int
        Beams of the search; 1 takes the likeliest token each time.
    """

    model: str = "florence-community/Florence-2-base"
    batch_size: int = Field(default=4, ge=1, le=1024)
    prompt: str = "<DETAILED_CAPTION>"
    max_tokens: int = Field(default=128, ge=1, le=2048)
    beams: int = Field(default=3, ge=1, le=16)
