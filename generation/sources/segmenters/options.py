"""The options of the segmenters, apart from them: to check them takes no model's packages."""

from ingest.models.options import ModelOptions


class SamOptions(ModelOptions):
    """Which model to use."""

    model: str = "facebook/sam-vit-base"


class ParsingOptions(ModelOptions):
    """Which parts belong to the object.

    Parameters
    ----------
    labels : tuple of str or None
        Names of the model's labels, such as Hair and Face; None for all but the background.
    """

    model: str = "mattmdjaga/segformer_b2_clothes"
    labels: tuple[str, ...] | None = None
