import pytest

from cobalance.generation.recipes import RECIPES
from cobalance.generation.recipes.recipe import Recipe


@pytest.mark.parametrize("name", list(RECIPES))
def test_a_caller_cannot_change_a_recipe(name: str) -> None:
    recipe = RECIPES[name]
    first = next(iter(recipe.filters))
    with pytest.raises(TypeError, match="does not support item assignment"):
        recipe.filters["blank"] = {"threshold": 1}  # type: ignore[index]
    with pytest.raises(TypeError, match="does not support item assignment"):
        recipe.filters[first]["threshold"] = 1  # type: ignore[index]
    with pytest.raises(TypeError, match="does not support item assignment"):
        recipe.making["steps"] = 1  # type: ignore[index]


def test_a_recipe_keeps_what_it_was_declared_with() -> None:
    given = {"blank": {"threshold": 0.1}}
    recipe = Recipe(
        name="own", purpose="", backend="paste", prompt="", filters=given, reference="none"
    )
    given["blank"]["threshold"] = 0.9
    given["clip"] = {}
    assert recipe.filters == {"blank": {"threshold": 0.1}}
