"""Resampled recipe: the person painted anew as each group, and the best of thirty chosen."""

from cobalance.generation.planning import CounterfactualOptions, ResultOptions
from cobalance.generation.recipes.recipe import Recipe
from cobalance.generation.sources.mask_settings import MaskSettings

PERSON_ANEW = MaskSettings(
    masks="regions+segmenter",
    object=("person",),
    instances="largest_box",
    second_above_px=55_000,
    min_share=0.0,
    max_share=1.0,
)
"""The paper's section 3: the largest person, and the second one if that is large, too."""

PLUGIN = Recipe(
    name="resampled",
    purpose="Paints the person anew as each group, many times, and keeps the image that is closest "
    "to the original.",
    backend="inpaint",
    prompt="{caption}",
    filters={
        "sanity": {"min_background": 0.0},
        "safety": {},
        "clip": {"text": "{caption}", "threshold": None},
        "same_objects": {},
        "same_colours": {},
    },
    making={"paint": "object"},
    masks=PERSON_ANEW,
    job={
        "segmenter": "sam",
        "best_of": 30,
        "rank_by": {"clip cosine": 1.0, "same_objects": 1.0, "same_colours": 1.0},
        "variants": [{"guidance_scale": scale} for scale in (7.5, 9.5, 15.0)],
    },
    plan=CounterfactualOptions(made="all", words=("coco-gb",), captions="one group"),
    result=ResultOptions(real="none"),
    people="paints",
    choices=(
        "Images are chosen by the words of COCO-GB in their captions; any other word list can be "
        "given.",
        "Only images of the training split are edited: the paper tests on real images.",
        "The outlines of the largest person, and of the second one if its box is larger than "
        "55,000 px, are painted in one pass, without crowds, without growing them, and however "
        "small they are; where an annotation has a box alone, SAM finds the outline in it.",
        "The prompt is the first caption that names exactly one group.",
        "The checkpoint is Stable Diffusion 1.5 for inpainting.",
        "CLIP is ViT-B/32, and its score the raw cosine, not 2.5 max(0, cosine).",
        "Objects are compared as sets of names; the detector's threshold is recorded, and two "
        "images without any object have a score of 1.",
        "Colours are compared in RGB, at 14 x 14 pixels by a box filter; a difference of zero "
        "ranks first, with a finite score.",
        "Equal scores share the average of their ranks; of equal sums of ranks the candidate with "
        "the lowest number wins. The paper's three weights are 1.",
        "No candidate is discarded but by rank, or where it would harm: the filters sanity and "
        "safety reject what is broken or not safe for work.",
        "Images whose captions name children and images whose licence allows no derivatives are "
        "left out, and counted.",
    ),
    reference="Hirota et al., Resampled Datasets Are Not Enough (2024), sections 2.1 to 2.3 and 3, "
    "appendix A.1. For skin tones leave the score of colours out, as the paper does.",
)
