"""Recipe that has a workflow of ComfyUI paint the surroundings."""

from cobalance.generation.recipes.recipe import SERVER_FIELDS, SIZE_FIELDS, FormField, Recipe
from cobalance.vision import PHOTO

PLUGIN = Recipe(
    name="comfyui",
    purpose="Keeps the object, and has a workflow of ComfyUI paint all around it from words.",
    backend="comfyui",
    prompt=PHOTO,
    # Workers need neither a GPU nor the packages of models: CLIPScore is for those that have them.
    filters={"sanity": {}, "blank": {}, "duplicates": {}},
    fields=(
        *SERVER_FIELDS,
        FormField(
            "workflow",
            "Workflow",
            "A file on the workers' machine, of *Export (API)*, in which nodes are called image, "
            "mask, prompt, seed and output.",
        ),
        *SIZE_FIELDS,
    ),
    reference="The recipe inpaint with ComfyUI in place of a pipeline: what the workflow has "
    "painted of the object is put back.",
)
