"""One module per recipe, a way of making images, and the registry of them all."""

from typing import TYPE_CHECKING

from cobalance.base import Declarations

if TYPE_CHECKING:
    from cobalance.generation.recipes.recipe import Recipe

RECIPES: "Declarations[Recipe]" = Declarations(
    "recipe",
    {
        "procedural": "cobalance.generation.recipes.procedural",
        "paste": "cobalance.generation.recipes.paste",
        "inpaint": "cobalance.generation.recipes.inpaint",
        "scene": "cobalance.generation.recipes.scene",
        "instruct": "cobalance.generation.recipes.instruct",
        "alia": "cobalance.generation.recipes.alia",
        "resampled": "cobalance.generation.recipes.resampled",
        "resampled-control": "cobalance.generation.recipes.resampled_control",
        "pinpoint": "cobalance.generation.recipes.pinpoint",
        "gensynth": "cobalance.generation.recipes.gensynth",
        "genswap": "cobalance.generation.recipes.genswap",
        "http": "cobalance.generation.recipes.http",
        "comfyui": "cobalance.generation.recipes.comfyui",
    },
    "recipes",
    "cobalance.generation.recipes.recipe.Recipe",
)

DEFAULT = "procedural"
"""The recipe of a job that names none: it needs neither a model nor a GPU."""


def choose_recipe(recipe: str | None, backend: str | None) -> "Recipe":
    """Choose a job's recipe by the recipe and backend that it names, if any.

    A backend alone chooses the recipe of its name, if there is one.

    Raises
    ------
    UnknownNameError
        No recipe has this name.

    Examples
    --------
    >>> choose_recipe(None, "inpaint").name, choose_recipe(None, None).name
    ('inpaint', 'procedural')
    """
    if recipe is None:
        recipe = backend if backend in list(RECIPES) else DEFAULT
    return RECIPES[recipe or DEFAULT]
