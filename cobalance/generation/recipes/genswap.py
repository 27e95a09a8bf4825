"""GenSwap recipe: GenSynth's baseline, another person's crop pasted over the person."""

from cobalance.generation.planning import CounterfactualOptions, ResultOptions
from cobalance.generation.recipes.gensynth import ONE_PERSON
from cobalance.generation.recipes.recipe import SIZE_FIELDS, Recipe

PLUGIN = Recipe(
    name="genswap",
    purpose="Pastes a random crop of the group into the box of the only person, as a baseline.",
    backend="patch",
    prompt="{noun}",
    filters={"sanity": {"min_background": 0.0}, "safety": {}},
    masks=ONE_PERSON,
    fields=SIZE_FIELDS,
    seconds=(0.1, 1.0),
    plan=CounterfactualOptions(made="all", words=("gensynth",), unnamed="drop"),
    result=ResultOptions(real="none"),
    people="alters",
    choices=(
        "The crop is of a person of the plan's own images of that class, so that nothing is taken "
        "from those that the plan leaves out, and never of the edited image: the paper pastes "
        "faces of FairFace into boxes of a face detector.",
        "Images show exactly one person, as those of GenSynth.",
        "The prompt is recorded and not used.",
    ),
    reference="GenSynth (2023), appendix A.2, GenSwap.",
)
