"""The options of a filter, an annotator or a segmenter, checked as they come from outside."""

from typing import Literal

from pydantic import Field, field_validator

from graph.options import Options
from ingest.models.prompts import PHOTO, check_template


class ModelOptions(Options):
    """The options of whatever looks at images with a model.

    Parameters
    ----------
    model : str
        A folder, or a repository of the hub as ``owner/name``.
    revision : str or None
        The hub's commit, tag or branch; None for the default model's own, else for the newest.
    offline : bool
        Load from this machine only.
    device : str
        ``auto`` for a GPU where there is one; else as torch names it.
    dtype : {"float32", "float16", "bfloat16", "auto"}
        Scores are compared with thresholds, so that single precision is the default even on a GPU:
        bfloat16 keeps two to three digits, and moves with what else is in the batch.
    batch_size : int
        How many images are looked at together; fewer need less memory.
    """

    model: str
    revision: str | None = None
    offline: bool = False
    device: str = "auto"
    dtype: Literal["float32", "float16", "bfloat16", "auto"] = "float32"
    batch_size: int = Field(default=16, ge=1, le=1024)

    def revision_or(self, default: str) -> str | None:
        """The revision to load, where the default model has one of its own.

        Parameters
        ----------
        default : str
            The default model's revision, for when neither model nor revision was chosen.
        """
        chosen = self.model != type(self).model_fields["model"].default
        return self.revision if chosen or self.revision is not None else default


class DetectorOptions(ModelOptions):
    """How to detect.

    Parameters
    ----------
    threshold : float
        The least score of something found. The default is that of the library's own
        post-processing; it lets false alarms through, and was not measured on any data of ours.
    overlap : float
        Of two boxes of one name that overlap more, as intersection over union, the surer stays.
    query : str
        The words for a name: a template as in `ingest.models.prompts`.
    """

    model: str = "google/owlv2-base-patch16-ensemble"
    batch_size: int = Field(default=4, ge=1, le=1024)
    threshold: float = Field(default=0.1, ge=0, le=1)
    overlap: float = Field(default=0.5, ge=0, le=1)
    query: str = PHOTO

    @field_validator("query")
    @classmethod
    def _check_query(cls, query: str) -> str:
        check_template(query)
        return query
