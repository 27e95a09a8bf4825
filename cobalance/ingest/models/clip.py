"""The CLIP that is loaded by default, ViT-B/32, and the commit of its weights."""

CLIP = "openai/clip-vit-base-patch32"
"""Its weights have no licence on the hub; their authors' code is under MIT, and their model card
leaves deployed uses out of scope."""

CLIP_REVISION = "c237dc49a33fc61debc9276459120b7eac67e7ef"
"""The hub's own conversion to safetensors: the main branch has a pickle."""
