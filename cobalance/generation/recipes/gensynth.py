"""GenSynth recipe: the person's crop edited by instructions, and kept if it passes for real."""

from cobalance.generation.planning import CounterfactualOptions, ResultOptions
from cobalance.generation.recipes.recipe import Recipe
from cobalance.generation.sources.mask_settings import MaskSettings

ONE_PERSON = MaskSettings(
    masks="regions+boxes",
    object=("person",),
    instances="single",
    min_share=0.0,
    max_share=1.0,
)
"""The crop is that of the box, which is there without an outline, too."""

INSTRUCTIONS = (
    "Make this person more {adjective}",
    "Make this person look like a {noun}",
    "Turn this person into a {noun}",
    "Convert this into a {noun}",
)
"""Table 4 of the appendix."""

PLUGIN = Recipe(
    name="gensynth",
    purpose="Edits the crop of the only person by instructions, and keeps images that lie among "
    "real ones and among those of their group.",
    backend="instruct",
    prompt=INSTRUCTIONS[0],
    filters={"sanity": {"min_background": 0.0}, "safety": {}, "embedding": {}},
    making={"crop": True, "steps": 500, "image_guidance_scale": 1.5},
    masks=ONE_PERSON,
    seconds=(20.0, 120.0),
    job={
        "best_of": 8,
        "rank_by": {"embedding p_real": 1.0},
        "variants": [
            {"prompt": prompt, "guidance_scale": scale}
            for prompt in INSTRUCTIONS
            for scale in (9.5, 15.0)
        ],
    },
    plan=CounterfactualOptions(made="all", words=("gensynth",), unnamed="drop"),
    result=ResultOptions(real="none"),
    people="alters",
    choices=(
        "Images show exactly one person, who is not part of a crowd.",
        "The image guidance is 1.5; the paper gives only the text scales, 9.5 and 15.",
        "Neighbours are looked for among crops, in the pool of real and edited ones, each without "
        "itself; the group of the neighbours among those that passed and the real ones. An edited "
        "image counts as of its target. CLIP is ViT-B/32; the filter's preset dino is the paper's "
        "variant, with at least one real neighbour of 5,000.",
        "Of several images that pass the one with the highest share of real neighbours wins.",
        "A source is kept only if every group has an image that passes.",
        "Captions that name both groups or none are undefined, and left out. The words of Table 1 "
        "are mended: it pairs her with him and his with hers alone, and lacks plurals.",
    ),
    reference="GenSynth (2023), Balancing the Picture, section 3 and appendix A.1 to A.3, C and F.",
)
