"""Scene recipe: keep the scene of a planned image, and paint its object anew as the class."""

from cobalance.generation.recipes.recipe import Recipe

PLUGIN = Recipe(
    name="scene",
    purpose="Keeps the scene of a real image that the plan names, and paints its object anew.",
    backend="inpaint",
    prompt="a photo of a {class} with {concepts}",
    filters={"sanity": {"min_background": 0.0}, "blank": {}, "duplicates": {}, "clip": {}},
    making={"paint": "object"},
    quality="fast",
    choices=(
        "The image is one of the plan's sources, of any class; a query without one takes an image "
        "of its class.",
        "Concepts that the plan adds to the set of its source are asked for by the prompt alone: "
        "the filter objects tells whether they are there.",
    ),
    reference="The mirror of the recipe inpaint, for plans of whole images: their concept sets are "
    "those of real images.",
)
