"""Options of the models that score texts in images."""

from pydantic import Field

from ingest.models.options import DetectorOptions, QueryOptions


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

    model: str = "IDEA-Research/grounding-dino-tiny"
    threshold: float = Field(default=0.3, ge=0, le=1)
    query: str = "{names}"
    chunk_tokens: int = Field(default=256, ge=16, le=256)
    alone: bool = False
