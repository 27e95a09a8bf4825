"""Options of the models that score texts in images."""

from pydantic import Field

from ingest.models.options import QueryOptions


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
