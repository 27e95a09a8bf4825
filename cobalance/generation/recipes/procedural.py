"""Procedural recipe: scenes without a model, for demonstrations, tests and trying a plan."""

from cobalance.generation.recipes.recipe import SIZE_FIELDS, Recipe
from cobalance.vision import PHOTO

PLUGIN = Recipe(
    name="procedural",
    purpose="Paints concepts by rule, without any model.",
    backend="procedural",
    prompt=PHOTO,
    filters={"sanity": {}, "blank": {}, "duplicates": {}},
    fields=SIZE_FIELDS,
    seconds=(0.02, 0.2),
    reference="No paper: it stands in for a model where there is none. The prompt is recorded and "
    "not used.",
    caution="Paints shapes: to see the steps, not to train on. With a GPU: `inpaint`.",
)
