"""Inpainting recipe: keep the object and inpaint its surroundings."""

from cobalance.generation.recipes.recipe import Recipe
from cobalance.vision import PHOTO

PLUGIN = Recipe(
    name="inpaint",
    purpose="Keeps the object, and paints everything around it from words.",
    backend="inpaint",
    prompt=PHOTO,
    filters={"sanity": {}, "blank": {}, "duplicates": {}, "clip": {}},
    reference="ConBias, section 10, with inpainting in place of pasting, so that light and shadow "
    "fit the object. Where the paper is silent: the checkpoint is Stable Diffusion 1.5 for "
    "inpainting at full strength, and the object's pixels are put back afterwards.",
)
