"""Recipe that has a server paint the surroundings, by OpenAI's API of images."""

from cobalance.generation.recipes.recipe import SERVER_FIELDS, SIZE_FIELDS, FormField, Recipe
from cobalance.vision import PHOTO

PLUGIN = Recipe(
    name="http",
    purpose="Keeps the object, and has a server paint everything around it from words: SGLang, "
    "vLLM-Omni or a service.",
    backend="http",
    prompt=PHOTO,
    # Workers need neither a GPU nor the packages of models: CLIPScore is for those that have them.
    filters={"sanity": {}, "blank": {}, "duplicates": {}},
    fields=(
        *SERVER_FIELDS,
        FormField("model", "Model", "Its name there.", "the server's only one"),
        *SIZE_FIELDS,
    ),
    reference="The recipe inpaint with a server in place of a pipeline: what the server paints of "
    "the object is put back.",
)
