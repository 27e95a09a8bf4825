"""TODO: say what cobalance/ingest/models/clip.py holds."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


CLIP = "openai/clip-vit-base-patch32"
"""Its weights have no licence on the hub; their authors' code is under MIT, and their model card
leaves deployed uses out of scope."""


CLIP_REVISION = "c237dc49a33fc61debc9276459120b7eac67e7ef"
"""The hub's own conversion of CLIP's default model to safetensors: its main branch has a pickle."""
