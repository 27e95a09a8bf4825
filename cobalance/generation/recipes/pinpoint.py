"""Pinpoint recipe: the skin of all people painted anew, and nothing else."""

from cobalance.generation.planning import CounterfactualOptions, ResultOptions
from cobalance.generation.recipes.recipe import Recipe
from cobalance.generation.sources.mask_settings import MaskSettings

SKIN = ("Face", "Left-arm", "Left-leg", "Right-arm", "Right-leg")

PLUGIN = Recipe(
    name="pinpoint",
    purpose="Paints the skin of the people in an image anew as each group, and keeps hair, clothes "
    "and surroundings.",
    backend="brushnet",
    prompt="A photo of a {noun}",
    filters={"sanity": {"min_background": 0.0}, "safety": {}},
    making={
        "steps": 50,
        "guidance_scale": 7.5,
        "conditioning_scale": 1.0,
        "area_px": 768 * 768,
    },
    masks=MaskSettings(
        masks="regions+segmenter",
        object=("person",),
        instances="all",
        parts="all",
        grow_px=1,
        min_share=0.0,
        max_share=1.0,
    ),
    job={
        "candidates_per_image": 1,
        "segmenter": "people",
        "parts": "parsing",
        "parts_options": {"labels": list(SKIN)},
    },
    plan=CounterfactualOptions(made="all", words=("pinpoint",), captions="unify"),
    result=ResultOptions(real="unedited"),
    people="alters",
    choices=(
        "The mask is the intersection of people and skin, as section 3 says, not the union that "
        "it prints; it is dilated once, by a square of 3 x 3 pixels, after that.",
        "An image whose mask is empty is not edited, and counted.",
        "All people of an image are painted as one group.",
        "An area of 768 x 768 pixels is painted at the source's aspect, with Stable Diffusion 1.5 "
        "and the random-mask checkpoint, 50 steps of UniPC, guidance 7.5 and conditioning 1.0: "
        "BrushNet's own example.",
        "One image is made of each group (m = 1), and none chosen; the filters sanity and safety "
        "alone reject what is broken or not safe for work.",
        "Captions that name both groups are unified, not swapped; those without a keyword stay.",
        "Skin is found by human parsing (face, arms, legs): the authors' own model is not "
        "published. Its weights are for research and evaluation alone. The segmenter clipseg, with "
        "the text skin, is an alternative, whose authors name no licence for its weights.",
        "Where people are not outlined, Mask2Former finds them, whose weights are not for "
        "commercial use.",
        "Of the training sets c1 to c10 of table 2, that c1 has the real women and c2 the real men "
        "is inferred from table 4; that c6 has the real women with synthetic men, and c7 the real "
        "men with synthetic women, from the order of c4 and c5.",
    ),
    reference="Pinpoint Counterfactuals, sections 3, 6 and 11.",
)
