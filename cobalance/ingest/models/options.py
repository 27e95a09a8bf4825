"""Options shared by the filters, annotators and segmenters that run a vision model."""

from typing import Literal

from pydantic import Field, field_validator

from cobalance.graph.options import Options
from cobalance.ingest.models.prompts import PHOTO, check_template


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
        chosen = self.model != type(self).model_fields["model"].default
        return self.revision if chosen or self.revision is not None else default


class QueryOptions(ModelOptions):
    """Options of a model that looks for names.

    Parameters
    ----------
    threshold : float
        Lowest score of a name that is found; not tuned on any dataset.
    query : str
        Prompt template for a name, see `cobalance.ingest.models.prompts`.
    """

    threshold: float = Field(default=0.5, ge=0, le=1)
    query: str = PHOTO

    @field_validator("query")
    @classmethod
    def _check_query(cls, query: str) -> str:
        check_template(query)
        return query


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
        Prompt template for a name, see `cobalance.ingest.models.prompts`.
    """

    model: str = "google/owlv2-base-patch16-ensemble"
    batch_size: int = Field(default=4, ge=1, le=1024)
    threshold: float = Field(default=0.1, ge=0, le=1)
    overlap: float = Field(default=0.5, ge=0, le=1)
