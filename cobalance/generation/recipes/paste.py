"""Paste recipe (ConBias's own): generate a background and paste the object onto it."""

from cobalance.generation.recipes.recipe import Recipe
from cobalance.vision import PHOTO

PLUGIN = Recipe(
    name="paste",
    purpose="Makes a background from words, and pastes the object onto it.",
    backend="paste",
    prompt=PHOTO,
    filters={"sanity": {}, "blank": {}, "duplicates": {}, "clip": {}},
    reference="ConBias, sections 4 and 10: Stable Diffusion, the prompt of section 10, the object "
    "by its mask, and CLIPScore with a threshold of 0.6. Where the paper is silent: the object "
    "stays where it is in its own image, the checkpoint is Stable Diffusion 1.5, and CLIPScore is "
    "that of the finished image, not of the background alone.",
)
