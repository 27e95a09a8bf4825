"""The options of the filters, apart from the filters: to check them takes no model's packages."""

from collections.abc import Mapping

from pydantic import Field, field_validator

from graph.options import Options
from ingest.models.options import DetectorOptions, ModelOptions
from ingest.models.prompts import check_template

CLIPSCORE_WEIGHT = 2.5
"""What CLIPScore multiplies a cosine with."""

CLIP_REVISION = "c237dc49a33fc61debc9276459120b7eac67e7ef"
"""The hub's own conversion of CLIP's default model to safetensors: its main branch has a pickle."""

SAFETY_REVISION = "refs/pr/41"
"""A pull request that has the default checker's weights as safetensors, in half precision: its
main branch has a pickle alone, which is refused."""


class SanityOptions(Options):
    """What is asked of an image before anything looks at what it shows.

    Parameters
    ----------
    width_px, height_px : int or None
        The size that images must have; None for any, since a backend may work at a model's size.
    source_size : bool
        The image must have its source's size, where it has a source.
    min_background : float
        The least share of the image that must be outside the object, where the mask is known:
        without it there is no room for any concept.
    min_unchanged : float
        The least share of the object's pixels that must be as in the source.
    """

    width_px: int | None = Field(default=None, ge=1)
    height_px: int | None = Field(default=None, ge=1)
    source_size: bool = False
    min_background: float = Field(default=0.05, ge=0, le=1)
    min_unchanged: float = Field(default=1.0, ge=0, le=1)


class BlankOptions(Options):
    """When an image counts as blank.

    Parameters
    ----------
    threshold : float
        The least standard deviation of luminance, from 0 to 0.5: 0.02 is five of 255 grey levels.
    min_luminance : float
        The least mean luminance, from 0 to 1: overflow in half precision makes black images.
    """

    threshold: float = Field(default=0.02, ge=0, le=0.5)
    min_luminance: float = Field(default=0.01, ge=0, le=1)


class DuplicatesOptions(Options):
    """When two images count as the same.

    Parameters
    ----------
    distance : int
        Images whose hashes differ in so many bits or fewer are the same.
    hash_size : int
        Side of the hash, which has its square in bits: 8 for 64 bits.
    """

    distance: int = Field(default=2, ge=0)
    hash_size: int = Field(default=8, ge=4, le=32, multiple_of=4)


class ClipOptions(ModelOptions):
    """How to score with CLIP.

    Parameters
    ----------
    threshold : float
        The least CLIPScore, from 0 to 2.5. The paper's 0.6 is a cosine of 0.24.
    text : str
        What the image is compared with: ``prompt``, the request's; ``concepts``, the paper's
        prompt for the request's concepts, whatever the backend was told; or a template as in
        `ingest.models.prompts`. A request without concepts is compared with its prompt.
    prefix : str
        Put before the text. The authors of CLIPScore write "A photo depicts " before captions;
        the prompts here begin with "a photo of" as they are.
    """

    model: str = "openai/clip-vit-base-patch32"
    threshold: float = Field(default=0.6, ge=0, le=CLIPSCORE_WEIGHT)
    text: str = "prompt"
    prefix: str = ""

    @field_validator("text")
    @classmethod
    def _check_text(cls, text: str) -> str:
        if text not in ("prompt", "concepts"):
            check_template(text)
        return text


class ObjectsOptions(DetectorOptions):
    """What a detector must find.

    Parameters
    ----------
    check_class : bool
        Whether the class must be found too.
    class_text : str, mapping of str to str, or None
        What the class is called: one text for all classes, such as "bird" where they are kinds of
        it, or one by class; None, or a class that is left out, for the class's own name.
    vocabulary : tuple of str
        The concepts of the dataset, to report those that nobody asked for.
    reject_unasked : bool
        Whether to reject an image that shows one of those: it would count for other cliques than
        those that it was made for.
    """

    check_class: bool = True
    class_text: str | Mapping[str, str] | None = None
    vocabulary: tuple[str, ...] = ()
    reject_unasked: bool = False


class SafetyOptions(ModelOptions):
    """Which checker to use.

    Parameters
    ----------
    model : str
        As for any model; a folder may be the ``safety_checker`` of a pipeline with safetensors.
    """

    model: str = "CompVis/stable-diffusion-safety-checker"
