"""Objects on one colour: what is left when all context is taken away."""

from cobalance.generation.recipes.recipe import SIZE_FIELDS, FormField, Recipe
from cobalance.generation.sources.mask_settings import MaskSettings
from cobalance.vision.models.prompts import PHOTO

PLUGIN = Recipe(
    name="plain-ground",
    purpose="Objects on one light colour.",
    backend="flat",
    making={"darkest": 128},
    masks=MaskSettings(masks="regions+boxes", instances="all"),
    prompt=PHOTO,
    filters={"sanity": {}, "bright": {"threshold": 0.1}},
    fields=(FormField("darkest", "Darkest value", "Of a channel, from 0 to 255."), *SIZE_FIELDS),
    seconds=(0.001, 0.01),
    reference="No paper. All instances of the object are kept, so that none is painted over.",
)
